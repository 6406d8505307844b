// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/task_links.hpp"

#include <numeric>

namespace zygos::plan {
namespace {

using schedule::Schedule;
using schedule::Task;
using schedule::TaskId;

/// Calls f(earlier, later) for everything a schedule orders directly.
template <class F>
void for_each_order(const Schedule& schedule, F&& f) {
  std::vector<TaskId> last(schedule.places.size() * schedule::queue_count, -1);
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const Task& task = schedule.tasks[id];
    for (const TaskId before : task.after) {
      f(static_cast<std::size_t>(before), id);
    }
    TaskId& previous = last[line_of(task)];
    if (previous >= 0) {
      f(static_cast<std::size_t>(previous), id);
    }
    previous = static_cast<TaskId>(id);
  }
}

}  // namespace

TaskLinks::TaskLinks(const Schedule& schedule)
    : open(schedule.tasks.size(), 0), first_(schedule.tasks.size() + 1, 0) {
  for_each_order(schedule, [&](std::size_t earlier, std::size_t later) {
    ++open[later];
    ++first_[earlier + 1];
  });
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  next_.resize(first_.back());
  std::vector<std::size_t> at(first_.begin(), first_.end() - 1);
  for_each_order(schedule, [&](std::size_t earlier, std::size_t later) {
    next_[at[earlier]++] = static_cast<TaskId>(later);
  });
}

}  // namespace zygos::plan
