// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Which task has ended before which starts. A place works through its tasks one after the other, so
// one number per place says everything a task may rely on, and a question costs O(1).
#pragma once

#include "zygos/schedule/task.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::schedule {

class Clocks {
 public:
  Clocks(std::size_t tasks, std::size_t places)
      : places_(places), ended_(tasks * places, 0), place_of_(tasks, 0) {}

  /// `task` starts after `earlier`, which must have been closed.
  void join(std::size_t task, std::size_t earlier) {
    const auto from = ended_.begin() + offset(earlier);
    std::transform(from, from + offset(1), ended_.begin() + offset(task),
                   ended_.begin() + offset(task),
                   [](std::uint32_t one, std::uint32_t other) { return std::max(one, other); });
  }

  /// Numbers `task` on its place, once it has joined all it waits for.
  void close(std::size_t task, Place place) {
    place_of_[task] = static_cast<std::size_t>(place);
    ++ended_[task * places_ + place_of_[task]];
  }

  /// `first` must have been closed; `second` may still be joining.
  bool ended_before(std::size_t first, std::size_t second) const {
    const std::size_t place = place_of_[first];
    return first != second && ended_[second * places_ + place] >= ended_[first * places_ + place];
  }

 private:
  std::ptrdiff_t offset(std::size_t task) const {
    return static_cast<std::ptrdiff_t>(task * places_);
  }

  std::size_t places_;
  std::vector<std::uint32_t> ended_;  ///< by task, then by place
  std::vector<std::size_t> place_of_;
};

}  // namespace zygos::schedule
