// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the planner found, as a table for people and as rows for machines.
#pragma once

#include "app/console.hpp"

#include "zygos/graph/graph.hpp"
#include "zygos/lane/lane_set.hpp"
#include "zygos/nn/optimizer.hpp"
#include "zygos/plan/memory_plan.hpp"
#include "zygos/plan/profile.hpp"
#include "zygos/plan/recommendation.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace zygos::app {

struct Ways;

/// What the report needs of a run; borrowed.
struct PlanSubject {
  const graph::Graph& graph;
  const nn::Optimizer& optimizer;
  const lane::LaneSet& lanes;
  DType dtype = DType::f32;
  plan::TargetSpec target;
  bool records_steps = false;  ///< see plan::MemoryRequest::records_steps
};

/// Memory under a schedule, by place and by lane.
std::vector<plan::PlaceMemory> place_memory_of(const schedule::Schedule& schedule,
                                               const PlanSubject& subject);
std::vector<plan::LaneMemory> memory_of(const schedule::Schedule& schedule,
                                        const PlanSubject& subject);

/// The table of candidates, fastest first, with the recommended one marked.
std::string plan_table(const Ways& ways, const PlanSubject& subject);
/// {"rows": [...], "refusals": [...], "recommended": ..., "deck": ..., "reason": ...}
nlohmann::json plan_json(const Ways& ways, const plan::Profile& profile,
                         const PlanSubject& subject);

/// The table of bytes per lane and category.
std::string memory_table(const std::vector<plan::LaneMemory>& places, const PlanSubject& subject);
nlohmann::json memory_json(const std::vector<plan::LaneMemory>& places, const PlanSubject& subject);

/// The text in lines of at most `columns` characters, broken at blanks.
std::string wrapped(const std::string& text, std::size_t columns = 69);
/// "Recommended: gpipe"
void say_recommended(Console& console, const std::string& policy);

}  // namespace zygos::app
