// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What follows for a sharded model (core/slice.hpp) from what is known of the whole one, so that
// policies and the planner need no graph: its outline and what its passes cost.
#pragma once

#include "zygos/plan/profile.hpp"
#include "zygos/schedule/schedule.hpp"

#include <span>
#include <string>

namespace zygos::plan {

/// The outline of the sharded model, equal to that of graph::sharded(). Throws UsageError for
/// slices of layers that cannot be cut so.
schedule::ModelOutline sharded_outline(const schedule::ModelOutline& whole,
                                       std::span<const ModelSlice> slices);

/// Costs of the sharded model's nodes from a profile of the whole one: a slice takes its share of
/// the layer's time, and what only a sharded model does, a sum, an epilogue or a copy, one pass
/// over memory (TaskKind::reduce over as many bytes) for each tensor that it reads. Where slices
/// were measured (SliceFactor), that becomes what they took; of a slice of another share, a part of
/// the layer's time that all slices have in full, such as reading its input, and the share of the
/// rest. `output_bytes`: of a sample, by slice.
Profile sharded_profile(const Profile& whole, std::span<const ModelSlice> slices,
                        std::span<const std::int64_t> output_bytes);

/// Name of a node of the schedule's model; `whole`: the outline of the model that is not sharded.
const std::string& node_name(const schedule::Schedule& schedule,
                             const schedule::ModelOutline& whole, std::int32_t node);

}  // namespace zygos::plan
