// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Which task has ended before which starts. A queue of a place works through its tasks one after
// the other, so one number per queue says everything a task may rely on, and a question costs O(1).
#pragma once

#include "zygos/schedule/task.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::schedule {

/// All queues of all places, numbered.
inline std::size_t line_of(const Task& task) {
  return static_cast<std::size_t>(task.place) * queue_count + static_cast<std::size_t>(task.queue);
}

class Clocks {
 public:
  Clocks(std::size_t tasks, std::size_t places)
      : lines_(places * queue_count), ended_(tasks * lines_, 0), line_of_(tasks, 0) {}

  /// `task` starts after `earlier`, which must have been closed.
  void join(std::size_t task, std::size_t earlier) {
    const auto from = ended_.begin() + offset(earlier);
    std::transform(from, from + offset(1), ended_.begin() + offset(task),
                   ended_.begin() + offset(task),
                   [](std::uint32_t one, std::uint32_t other) { return std::max(one, other); });
  }

  /// Numbers `task` on its queue, once it has joined all it waits for.
  void close(std::size_t task, std::size_t line) {
    line_of_[task] = line;
    ++ended_[task * lines_ + line];
  }

  /// `first` must have been closed; `second` may still be joining.
  bool ended_before(std::size_t first, std::size_t second) const {
    const std::size_t line = line_of_[first];
    return first != second && ended_[second * lines_ + line] >= ended_[first * lines_ + line];
  }

 private:
  std::ptrdiff_t offset(std::size_t task) const {
    return static_cast<std::ptrdiff_t>(task * lines_);
  }

  std::size_t lines_;
  std::vector<std::uint32_t> ended_;  ///< by task, then by line
  std::vector<std::size_t> line_of_;
};

}  // namespace zygos::schedule
