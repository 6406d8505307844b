// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Communication that no computation hides, of a step that was simulated or of one that ran.
#pragma once

#include "zygos/plan/simulator.hpp"
#include "zygos/schedule/schedule.hpp"

#include <span>
#include <vector>

namespace zygos::plan {

/// By stage: seconds from the end of the last backward pass of all places to the end of the tasks
/// that move and sum the stage's gradient. 0: backward passes hide them all. `times` by TaskId, as
/// in Simulation::tasks or from train::newest_step().
std::vector<double> exposed_exchange_s(const schedule::Schedule& schedule,
                                       std::span<const TaskTime> times);

/// By place: seconds by which weights that come late delay its first forward pass of the step, the
/// most over its parts of arrival of the weights less begin of the part, had no earlier one waited
/// for weights; 0 where all are there in time, and for places that borrow none. Of
/// data_parallel's exchange chunked_broadcast (policies.md 3.19).
std::vector<double> exposed_broadcast_s(const schedule::Schedule& schedule,
                                        std::span<const TaskTime> times);

}  // namespace zygos::plan
