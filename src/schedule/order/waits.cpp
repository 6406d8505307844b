// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/order/waits.hpp"

#include "schedule/checks/checks.hpp"
#include "schedule/order/clocks.hpp"

#include <algorithm>
#include <numeric>

namespace zygos::schedule {
namespace {

bool list_is_order(const Waits& waits) {
  for (std::size_t id = 0; id < waits.count(); ++id) {
    const auto earlier = waits.before(id);
    if (std::ranges::any_of(earlier,
                            [&](TaskId task) { return static_cast<std::size_t>(task) >= id; })) {
      return false;
    }
  }
  return true;
}

/// Kahn's order.
std::vector<std::size_t> sorted(const Waits& waits) {
  std::vector<std::size_t> open(waits.count());
  std::vector<std::vector<std::size_t>> next(waits.count());
  std::vector<std::size_t> order;
  for (std::size_t id = 0; id < waits.count(); ++id) {
    open[id] = waits.before(id).size();
    for (const TaskId earlier : waits.before(id)) {
      next[static_cast<std::size_t>(earlier)].push_back(id);
    }
    if (open[id] == 0) {
      order.push_back(id);
    }
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::size_t later : next[order[i]]) {
      if (--open[later] == 0) {
        order.push_back(later);
      }
    }
  }
  return order;
}

}  // namespace

Waits::Waits(const Schedule& schedule) {
  std::vector<TaskId> last(schedule.places.size() * queue_count, -1);
  first_.reserve(schedule.tasks.size() + 1);
  first_.push_back(0);
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const Task& task = schedule.tasks[id];
    earlier_.insert(earlier_.end(), task.after.begin(), task.after.end());
    TaskId& previous = last[line_of(task)];
    if (previous >= 0) {
      earlier_.push_back(previous);
    }
    previous = static_cast<TaskId>(id);
    first_.push_back(earlier_.size());
  }
}

std::vector<std::size_t> order_of(const Waits& waits) {
  if (list_is_order(waits)) {
    std::vector<std::size_t> order(waits.count());
    std::iota(order.begin(), order.end(), std::size_t{0});
    return order;
  }
  return sorted(waits);
}

std::string describe_cycle(const Schedule& schedule, const Waits& waits,
                           const std::vector<std::size_t>& order) {
  std::vector<bool> stuck(waits.count(), true);
  for (const std::size_t id : order) {
    stuck[id] = false;
  }
  // Walks backwards among the tasks that can't start until one comes up again.
  std::vector<std::size_t> path;
  std::vector<bool> visited(waits.count(), false);
  auto at = static_cast<std::size_t>(std::ranges::find(stuck, true) - stuck.begin());
  while (!visited[at]) {
    visited[at] = true;
    path.push_back(at);
    at = static_cast<std::size_t>(*std::ranges::find_if(waits.before(at), [&](TaskId earlier) {
      return stuck[static_cast<std::size_t>(earlier)];
    }));
  }
  std::string text = "deadlock: ";
  for (auto step = std::ranges::find(path, at); step != path.end(); ++step) {
    text += label_of(schedule, *step) + " waits for ";
  }
  return text + label_of(schedule, at);
}

}  // namespace zygos::schedule
