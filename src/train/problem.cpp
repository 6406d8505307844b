// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/train/problem.hpp"

#include <cstddef>

namespace zygos::train {

plan::Problem problem_of(const graph::Graph& graph, const lane::LaneSet& lanes, DType dtype,
                         const plan::TargetSpec& target, std::int64_t batch, std::int64_t chunk) {
  plan::Problem problem;
  for (std::size_t place = 0; place < lanes.size(); ++place) {
    const lane::Lane& lane = lanes[place];
    problem.places.push_back(
        {lane.name(), lane.spec().kind, lane.host_accessible(), lane.spec().budget_bytes});
  }
  problem.batch = batch;
  problem.chunk = chunk;
  problem.model = plan::outline_of(graph, dtype, target);
  return problem;
}

}  // namespace zygos::train
