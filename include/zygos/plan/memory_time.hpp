// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What of a run's memory is in use when.
#pragma once

#include "zygos/plan/memory_plan.hpp"
#include "zygos/plan/simulator.hpp"

#include <span>
#include <vector>

namespace zygos::plan {

/// Bytes of one tier of a place that are in use at a moment, by what they are for.
struct MemorySample {
  schedule::Place place = 0;
  schedule::Tier tier = schedule::Tier::lane;
  double time_s = 0.0;
  memory::Usage usage;
};

/// One step as bytes over time, on the clock of `times` (by TaskId): what lives as long as the
/// engine, and every other buffer from the start of the task that writes it first to the end of the
/// last one that uses it. A sample where bytes change, each holding until the next of its place and
/// tier; place by place, tier by tier (without tiers of which a place has nothing), in order of
/// time. The engine has allocated all of it all the time: this is what
/// the bytes are needed for.
std::vector<MemorySample> memory_over_time(const std::vector<PlaceMemory>& memory,
                                           std::span<const TaskTime> times);

}  // namespace zygos::plan
