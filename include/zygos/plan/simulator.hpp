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

/// One step as it would go.
struct Simulation {
  std::vector<TaskTime> tasks;  ///< by TaskId
  double makespan_s = 0.0;
  std::vector<double> busy_s;  ///< by lane: its compute queue at work
  std::vector<double> idle_s;  ///< by lane: the rest of the step; 0 for lanes without tasks
  std::int64_t bytes = 0;      ///< between places, as Schedule::traffic_bytes()
  std::int64_t messages = 0;

  /// Idle time of the places that take part, as a share of their time; in [0, 1].
  double idle_share() const;
};

using TaskSeconds = std::function<double(const schedule::Task&)>;

/// Each queue of a place runs its tasks in the order of the list, each as soon as those it is
/// `after` have ended. Cost is linear in tasks and dependencies. Throws InternalError on a cycle.
Simulation simulate(const schedule::Schedule& schedule, const TaskSeconds& seconds);

/// With the costs of a profile of the whole model, of places that share one machine: a task goes at
/// the pace measured alone while no other place computes, at the pace measured together while all
/// others do, and in between in proportion; so the phases of a pipeline in which one place waits
/// for the other are not charged for a contention that is not there. Where a place has one driver,
/// its queues take turns as the engine lets them, messages first; what a link does by itself goes
/// on beside. The makespan includes the profile's step overhead. Cost is linear in tasks and
/// dependencies for a given number of places.
Simulation simulate(const schedule::Schedule& schedule, const Profile& profile);

/// False if a place that works is one whose costs could not be measured, being too small for the
/// model: then there is nothing to simulate() with.
bool can_predict(const Profile& profile, const schedule::Schedule& schedule);

}  // namespace zygos::plan
