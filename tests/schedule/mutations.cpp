// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/mutations.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

namespace zygos::test {

using schedule::Buffer;
using schedule::BufferKind;
using schedule::Schedule;
using schedule::Task;
using schedule::TaskId;

namespace {

/// Of the tasks that this one waits for.
template <class F>
void for_each_id(Task& task, F&& f) {
  for (TaskId& id : task.after) {
    f(id);
  }
  if (task.not_before >= 0) {
    f(task.not_before);
  }
}

}  // namespace

Schedule without_task(Schedule schedule, std::size_t task) {
  const auto gone = static_cast<TaskId>(task);
  schedule.tasks.erase(schedule.tasks.begin() + static_cast<std::ptrdiff_t>(task));
  for (Task& each : schedule.tasks) {
    std::erase(each.after, gone);
    for_each_id(each, [&](TaskId& id) { id = id == gone ? -1 : id > gone ? id - 1 : id; });
  }
  return schedule;
}

Schedule with_twin(const Schedule& schedule, std::size_t task) {
  Schedule out = schedule;
  const auto one = static_cast<TaskId>(task);
  for (Task& each : out.tasks) {
    // Who waits for the task waits for both.
    for_each_id(each, [&](TaskId& id) { id += id >= one ? 1 : 0; });
  }
  Task twin = out.tasks[task];
  for_each_id(twin, [&](TaskId& id) { id -= id > one ? 1 : 0; });
  out.tasks.insert(out.tasks.begin() + static_cast<std::ptrdiff_t>(task), std::move(twin));
  return out;
}

Schedule swapped(Schedule schedule, std::size_t one, std::size_t other) {
  std::swap(schedule.tasks[one], schedule.tasks[other]);
  const auto first = static_cast<TaskId>(one);
  const auto second = static_cast<TaskId>(other);
  for (Task& each : schedule.tasks) {
    for_each_id(each, [&](TaskId& id) { id = id == first ? second : id == second ? first : id; });
  }
  return schedule;
}

std::vector<std::vector<std::size_t>> queues_of(const Schedule& schedule) {
  std::map<std::pair<schedule::Place, schedule::Queue>, std::vector<std::size_t>> queues;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    queues[{schedule.tasks[id].place, schedule.tasks[id].queue}].push_back(id);
  }
  std::vector<std::vector<std::size_t>> out;
  for (auto& [key, ids] : queues) {
    out.push_back(std::move(ids));
  }
  return out;
}

std::vector<Buffer> wrong_buffers(const Buffer& buffer) {
  std::vector<Buffer> wrong(5, buffer);
  ++wrong[0].place;
  ++wrong[1].micro_batch;
  ++wrong[2].slot;
  ++wrong[3].part;
  wrong[4].kind = buffer.kind == BufferKind::scratch ? BufferKind::outputs : BufferKind::scratch;
  return wrong;
}

std::size_t find_task(const Schedule& schedule, schedule::TaskKind kind, schedule::Place place,
                      std::size_t nth) {
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    if (schedule.tasks[id].kind == kind && schedule.tasks[id].place == place && nth-- == 0) {
      return id;
    }
  }
  throw std::out_of_range("the schedule has no such task");
}

std::string name_start(std::size_t task) { return "task " + std::to_string(task) + " ("; }

std::string findings_of(const Schedule& schedule) {
  std::string all;
  for (const std::string& finding : validate(schedule)) {
    all += finding + "\n";
  }
  return all;
}

}  // namespace zygos::test
