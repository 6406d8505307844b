// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Who waits for whom, found by following every wait: slow, and nothing of the library's in it.
#pragma once

#include "zygos/schedule/schedule.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace zygos::test {

class Reachability {
 public:
  explicit Reachability(const schedule::Schedule& schedule)
      : ended_(schedule.tasks.size(), std::vector<bool>(schedule.tasks.size(), false)) {
    const std::size_t count = schedule.tasks.size();
    for (std::size_t id = 0; id < count; ++id) {
      for (const schedule::TaskId earlier : schedule.tasks[id].after) {
        ended_[id][static_cast<std::size_t>(earlier)] = true;
      }
      for (std::size_t other = 0; other < id; ++other) {
        const schedule::Task& one = schedule.tasks[other];
        const schedule::Task& two = schedule.tasks[id];
        if (one.place == two.place && one.queue == two.queue) {
          ended_[id][other] = true;
        }
      }
    }
    for (std::size_t through = 0; through < count; ++through) {  // Warshall
      for (std::size_t id = 0; id < count; ++id) {
        for (std::size_t other = 0; ended_[id][through] && other < count; ++other) {
          ended_[id][other] = ended_[id][other] || ended_[through][other];
        }
      }
    }
  }

  /// `first` has ended when `second` starts.
  bool before(std::size_t first, std::size_t second) const { return ended_[second][first]; }

  bool deadlock() const {
    for (std::size_t id = 0; id < ended_.size(); ++id) {
      if (ended_[id][id]) {
        return true;
      }
    }
    return false;
  }

 private:
  std::vector<std::vector<bool>> ended_;  ///< [second][first]
};

/// Both use one buffer and one of them writes it.
inline bool conflict(const schedule::Task& one, const schedule::Task& other) {
  const auto meets = [](const std::vector<schedule::Buffer>& some,
                        const std::vector<schedule::Buffer>& others) {
    return std::ranges::any_of(some, [&](const schedule::Buffer& buffer) {
      return std::ranges::find(others, buffer) != others.end();
    });
  };
  return meets(one.writes, other.writes) || meets(one.writes, other.reads) ||
         meets(one.reads, other.writes);
}

}  // namespace zygos::test
