// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/graph/graph.hpp"
#include "zygos/schedule/schedule.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace zygos::train {

/// The model that runs: the caller's, or its shards. State outside of the
/// engine is the caller's.
struct RunningModel {
  RunningModel(const graph::Graph &whole_model, const schedule::Schedule &schedule);
  RunningModel(const RunningModel &) = delete;
  RunningModel &operator=(const RunningModel &) = delete;

  const graph::Graph &whole;
  std::optional<graph::Graph> shards;  ///< if the schedule has slices
  const graph::Graph &graph;           ///< what runs: the shards, or the whole
};

/// Flat parameters of the model that runs as those of the whole one, and back:
/// bytes or doubles, `units` of them for each element.
template <class T>
std::vector<T> to_whole(const RunningModel &model, std::vector<T> flat, std::size_t units);
std::vector<std::byte> from_whole(const RunningModel &model, std::vector<std::byte> flat,
                                  std::size_t units);

}  // namespace zygos::train
