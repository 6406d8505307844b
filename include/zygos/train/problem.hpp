// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/dtype.hpp"
#include "zygos/graph/graph.hpp"
#include "zygos/lane/lane_set.hpp"
#include "zygos/plan/problem.hpp"
#include "zygos/plan/stage_tensors.hpp"

#include <cstdint>

namespace zygos::train {

/// What a policy may know of a model on these lanes.
plan::Problem problem_of(const graph::Graph& graph, const lane::LaneSet& lanes, DType dtype,
                         const plan::TargetSpec& target, std::int64_t batch,
                         std::int64_t chunk = 0);

}  // namespace zygos::train
