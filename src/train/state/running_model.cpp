// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/state/running_model.hpp"

#include <algorithm>

namespace zygos::train {

RunningModel::RunningModel(const graph::Graph &whole_model, const schedule::Schedule &schedule)
    : whole(whole_model),
      shards(schedule.slices.empty() ? std::nullopt
                                     : std::optional(graph::sharded(whole, schedule.slices))),
      graph(shards ? *shards : whole) {}

template <class T>
std::vector<T> to_whole(const RunningModel &model, std::vector<T> flat, std::size_t units) {
  if (!model.shards) {
    return flat;
  }
  const auto step = static_cast<std::ptrdiff_t>(units);
  std::vector<T> out(static_cast<std::size_t>(model.whole.parameter_elements()) * units);
  for (const graph::ElementRun &run : graph::element_runs(model.whole, model.graph)) {
    std::copy_n(flat.begin() + run.shard * step, run.count * step, out.begin() + run.whole * step);
  }
  return out;
}

template std::vector<std::byte> to_whole(const RunningModel &, std::vector<std::byte>, std::size_t);
template std::vector<double> to_whole(const RunningModel &, std::vector<double>, std::size_t);

std::vector<std::byte> from_whole(const RunningModel &model, std::vector<std::byte> flat,
                                  std::size_t units) {
  if (!model.shards) {
    return flat;
  }
  const auto step = static_cast<std::ptrdiff_t>(units);
  std::vector<std::byte> out(static_cast<std::size_t>(model.graph.parameter_elements()) * units);
  for (const graph::ElementRun &run : graph::element_runs(model.whole, model.graph)) {
    std::copy_n(flat.begin() + run.whole * step, run.count * step, out.begin() + run.shard * step);
  }
  return out;
}

}  // namespace zygos::train
