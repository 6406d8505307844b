// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/plan/profile.hpp"
#include "zygos/schedule/schedule.hpp"

#include <functional>
#include <vector>

namespace zygos::plan {

struct TaskTime {
  double start_s = 0.0;
  double end_s = 0.0;
};

struct Simulation {
  std::vector<TaskTime> tasks;  ///< by TaskId
  double makespan_s = 0.0;
  std::vector<double> busy_s;  ///< by place
  std::vector<double> idle_s;  ///< by place, within the makespan; 0 for places without tasks
};

using TaskSeconds = std::function<double(const schedule::Task&)>;

/// Discrete-event simulation: each place runs its tasks in order, each when its predecessors ended.
/// Cost is linear in tasks and dependencies. Throws InternalError on a cycle.
Simulation simulate(const schedule::Schedule& schedule, const TaskSeconds& seconds);
/// With the costs of a profile; `together` curves are used when more than one place is active.
/// The makespan includes the profile's step overhead.
Simulation simulate(const schedule::Schedule& schedule, const Profile& profile);

}  // namespace zygos::plan
