// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/exposed_time.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <cstddef>

namespace zygos::plan {
namespace {

using schedule::Schedule;
using schedule::Stage;
using schedule::Task;
using schedule::TaskKind;

/// Of the place, or of its peer where it computes nothing.
Stage stage_of(const Schedule& schedule, const Task& task) {
  const Stage own = schedule.stage_of[static_cast<std::size_t>(task.place)];
  return own >= 0 || task.peer < 0 ? own : schedule.stage_of[static_cast<std::size_t>(task.peer)];
}

}  // namespace

std::vector<double> exposed_exchange_s(const Schedule& schedule, std::span<const TaskTime> times) {
  ZYGOS_REQUIRE(times.size() == schedule.tasks.size(), "times of another schedule");
  double last_backward_s = 0.0;
  for (std::size_t id = 0; id < times.size(); ++id) {
    if (schedule.tasks[id].kind == TaskKind::backward) {
      last_backward_s = std::max(last_backward_s, times[id].end_s);
    }
  }
  std::vector<double> exposed_s(schedule.stages.size(), 0.0);
  for (std::size_t id = 0; id < times.size(); ++id) {
    const Task& task = schedule.tasks[id];
    const Stage stage = stage_of(schedule, task);
    if (task.payload == schedule::Payload::gradients && stage >= 0) {
      double& seconds = exposed_s[static_cast<std::size_t>(stage)];
      seconds = std::max(seconds, times[id].end_s - last_backward_s);
    }
  }
  return exposed_s;
}

}  // namespace zygos::plan
