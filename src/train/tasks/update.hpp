// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A place's updates: what an optimizer gets of its parameters, and what is not an optimizer's.
#pragma once

#include "zygos/graph/graph.hpp"
#include "zygos/nn/optimizer.hpp"
#include "zygos/schedule/schedule.hpp"
#include "zygos/tensor/tensor.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace zygos::train {

struct PlaceState;

/// f(elements) for each run of elements of `all` that belongs to no frozen layer.
template <class F>
void for_each_unfrozen(const graph::Graph& graph, schedule::ElementRange all, const F& f) {
  std::int64_t begin = all.begin;
  for (const graph::Parameter& parameter : graph.parameters()) {
    const std::int64_t from = std::max(parameter.offset, begin);
    const std::int64_t end =
        std::min(graph::aligned_elements(parameter.offset + parameter.shape.size()), all.end);
    if (parameter.frozen && from < end) {
      if (begin < from) {
        f(schedule::ElementRange{begin, from});
      }
      begin = end;
    }
  }
  if (begin < all.end) {
    f(schedule::ElementRange{begin, all.end});
  }
}

/// What an update gives the optimizer: consecutive elements that are trained, and those that are
/// not: statistics of layers. What is frozen is in neither.
struct Update {
  std::vector<nn::UpdateArgs> trained;
  std::vector<nn::UpdateArgs> statistics;
};

/// What all updates of a place work with.
struct Updates {
  std::map<schedule::TaskId, Update> by_task;
  nn::OptimizerPtr statistics;  ///< subtracts the gradient
  Tensor bad;                   ///< (1) i32: an update has met a gradient that is not finite
  schedule::TaskId last = -1;
  bool redone = false;  ///< in this call, the norm has undone an update that was speculated
};

/// Number of an optimizer's update, 1 for the first, of those of each step.
std::uint64_t optimizer_step(const schedule::Schedule& schedule, std::uint64_t step,
                             std::int32_t update);
Updates bind_updates(const PlaceState& state);
/// Marks in the optimizer's mask which parameters decay; part of putting state on a place.
void write_decay_mask(const PlaceState& state);
/// From here on no gradient was bad; likewise.
void clear_bad_gradient(const PlaceState& state);
/// An update has met a gradient that is not finite.
bool has_bad_gradient(const PlaceState& state);

/// Also one that is speculated, and its confirmation: that makes it again, from what it has
/// overwritten, if the norm is above its limit.
void run_update(PlaceState& state, schedule::TaskId id);

}  // namespace zygos::train
