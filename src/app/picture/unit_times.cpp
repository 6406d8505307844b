// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/picture/unit_times.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

namespace zygos::app {

namespace {

using schedule::Schedule;
using schedule::Task;
using schedule::TaskId;
using schedule::TaskKind;

/// Of one unit of time. Durations are integers of these, so that sums of doubles are exact.
constexpr std::int64_t ticks = 64;
constexpr std::int64_t small = ticks / 8;

std::int64_t part_of(std::int64_t whole, std::int64_t part, std::int64_t all) {
  return all > 0 ? std::max(small, (whole * part + all - 1) / all) : small;
}

/// A layer with parameters counts as four without.
std::int64_t work_of(const Schedule& schedule, const schedule::NodeRange& nodes) {
  std::int64_t work = 0;
  for (std::int32_t node = nodes.begin; node < nodes.end; ++node) {
    work += schedule.parameters[static_cast<std::size_t>(node)].count() > 0 ? 4 : 1;
  }
  return work;
}

std::int64_t pass_ticks(const Schedule& schedule, const Task& task) {
  const schedule::NodeRange stage = schedule.nodes_of(task.place);
  const std::int64_t work = work_of(schedule, stage);
  const std::int64_t forward = work > stage.count() ? ticks : ticks / 4;
  return part_of(task.kind == TaskKind::backward ? 2 * forward : forward,
                 work_of(schedule, task.nodes), work);
}

std::int64_t element_ticks(const Schedule& schedule, const Task& task, std::int64_t whole) {
  return part_of(whole, task.elements.count(), schedule.elements_of(task.place).count());
}

double unit_time(const Schedule& schedule, const Task& task) {
  std::int64_t taken = small;
  if (schedule::is_pass(task.kind)) {
    taken = pass_ticks(schedule, task);
  } else if (schedule::makes_version(task.kind)) {
    taken = element_ticks(schedule, task, ticks / 2);
  } else if (task.elements.count() > 0 && task.queue != schedule::Queue::compute) {
    taken = element_ticks(schedule, task, ticks);
  }
  return static_cast<double>(taken) / static_cast<double>(ticks);
}

/// With the order that tasks of a lane's places have among each other. As all that a task is after
/// stands before it in the list, starting times and then numbers are an order that fits the rest.
Schedule in_turns(const Schedule& schedule, const plan::Simulation& apart) {
  std::vector<TaskId> order(schedule.tasks.size());
  for (std::size_t id = 0; id < order.size(); ++id) {
    order[id] = static_cast<TaskId>(id);
  }
  const auto start_of = [&](TaskId id) {
    return std::tuple(apart.tasks[static_cast<std::size_t>(id)].start_s, id);
  };
  std::ranges::sort(order, {}, start_of);
  Schedule out = schedule;
  std::vector<TaskId> last(schedule.lane_count() * schedule::queue_count, -1);
  for (const TaskId id : order) {
    Task& task = out.tasks[static_cast<std::size_t>(id)];
    TaskId& before = last[schedule.lane_of(task.place) * schedule::queue_count +
                          static_cast<std::size_t>(task.queue)];
    if (before >= 0) {
      task.after.push_back(before);
    }
    before = id;
  }
  return out;
}

}  // namespace

plan::Simulation unit_times(const Schedule& schedule) {
  const auto seconds = [&](const Task& task) { return unit_time(schedule, task); };
  plan::Simulation apart = plan::simulate(schedule, seconds);
  return schedule.further_lanes.empty() ? apart
                                        : plan::simulate(in_turns(schedule, apart), seconds);
}

}  // namespace zygos::app
