// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A place's updates: what an optimizer gets of its parameters, and what is not an optimizer's.
#pragma once

#include "zygos/nn/optimizer.hpp"
#include "zygos/schedule/task.hpp"
#include "zygos/tensor/tensor.hpp"

#include <map>
#include <vector>

namespace zygos::train {

struct PlaceState;

/// What an update gives the optimizer: consecutive elements that are trained, and those that are
/// not: statistics of layers.
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
