// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/schedule.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace zygos::schedule {

/// What every task waits for: its `after`, and the task before it on its queue.
class Waits {
 public:
  explicit Waits(const Schedule& schedule);

  std::size_t count() const noexcept { return first_.size() - 1; }
  std::span<const TaskId> before(std::size_t task) const {
    return {earlier_.data() + first_[task], earlier_.data() + first_[task + 1]};
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<TaskId> earlier_;
};

/// An order the tasks can run in; that of the list if it is one. Tasks on a cycle or behind one are
/// missing from it.
std::vector<std::size_t> order_of(const Waits& waits);

/// The tasks of a cycle, each with what it waits for. `order` must miss some task.
std::string describe_cycle(const Schedule& schedule, const Waits& waits,
                           const std::vector<std::size_t>& order);

}  // namespace zygos::schedule
