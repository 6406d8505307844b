// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/simulator.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>

namespace zygos::plan {
namespace {

using schedule::Schedule;
using schedule::TaskId;

/// For every task, the one before it on its place and the tasks that wait for it.
struct Links {
  std::vector<int> open;  ///< predecessors that have not ended
  std::vector<std::vector<TaskId>> next;
};

Links links_of(const Schedule& schedule) {
  const std::size_t count = schedule.tasks.size();
  Links links{std::vector<int>(count, 0), std::vector<std::vector<TaskId>>(count)};
  std::vector<TaskId> last(schedule.places.size(), -1);
  for (std::size_t id = 0; id < count; ++id) {
    const schedule::Task& task = schedule.tasks[id];
    const auto follow = [&](TaskId before) {
      links.next[static_cast<std::size_t>(before)].push_back(static_cast<TaskId>(id));
      ++links.open[id];
    };
    for (const TaskId before : task.after) {
      follow(before);
    }
    TaskId& previous = last[static_cast<std::size_t>(task.place)];
    if (previous >= 0) {
      follow(previous);
    }
    previous = static_cast<TaskId>(id);
  }
  return links;
}

}  // namespace

Simulation simulate(const Schedule& schedule, const TaskSeconds& seconds) {
  const std::size_t count = schedule.tasks.size();
  Links links = links_of(schedule);
  Simulation out;
  out.tasks.resize(count);
  out.busy_s.assign(schedule.places.size(), 0.0);
  out.idle_s.assign(schedule.places.size(), 0.0);
  std::vector<TaskId> ready;
  for (std::size_t id = 0; id < count; ++id) {
    if (links.open[id] == 0) {
      ready.push_back(static_cast<TaskId>(id));
    }
  }
  // Starts only ever move later as predecessors end, so any order of ready tasks gives the same
  // times.
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const auto id = static_cast<std::size_t>(ready[i]);
    const schedule::Task& task = schedule.tasks[id];
    const double duration = seconds(task);
    out.tasks[id].end_s = out.tasks[id].start_s + duration;
    out.busy_s[static_cast<std::size_t>(task.place)] += duration;
    out.makespan_s = std::max(out.makespan_s, out.tasks[id].end_s);
    for (const TaskId later : links.next[id]) {
      const auto index = static_cast<std::size_t>(later);
      out.tasks[index].start_s = std::max(out.tasks[index].start_s, out.tasks[id].end_s);
      if (--links.open[index] == 0) {
        ready.push_back(later);
      }
    }
  }
  if (ready.size() != count) {
    throw InternalError("the schedule of policy '" + schedule.policy +
                        "' has a cycle; validate() names it");
  }
  for (const schedule::Place place : schedule.active_places()) {
    const auto index = static_cast<std::size_t>(place);
    out.idle_s[index] = out.makespan_s - out.busy_s[index];
  }
  return out;
}

Simulation simulate(const Schedule& schedule, const Profile& profile) {
  const bool together = schedule.active_places().size() > 1;
  Simulation out = simulate(
      schedule, [&](const schedule::Task& task) { return profile.seconds(task, together); });
  out.makespan_s += profile.step_overhead_s;
  return out;
}

}  // namespace zygos::plan
