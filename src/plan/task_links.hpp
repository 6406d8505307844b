// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/schedule.hpp"

#include <span>
#include <vector>

namespace zygos::plan {

/// For every task, how many it waits for and which wait for it: `after` and the task before it on
/// its queue. Flat, because a schedule may have millions of tasks.
class TaskLinks {
 public:
  explicit TaskLinks(const schedule::Schedule& schedule);

  std::span<const schedule::TaskId> next(std::size_t task) const {
    return {next_.data() + first_[task], first_[task + 1] - first_[task]};
  }
  /// Predecessors that have not ended, by task; counted down by whoever simulates.
  std::vector<std::int32_t> open;

 private:
  std::vector<std::size_t> first_;
  std::vector<schedule::TaskId> next_;
};

}  // namespace zygos::plan
