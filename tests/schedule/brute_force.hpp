// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Who waits for whom, found by following every wait: slow, and nothing of the library's in it.
#pragma once

#include "zygos/schedule/schedule.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::test {

class Reachability {
 public:
  explicit Reachability(const schedule::Schedule& schedule)
      : count_(schedule.tasks.size()),
        words_((count_ + word_bits - 1) / word_bits),
        ended_(count_ * words_, 0) {
    for (std::size_t id = 0; id < count_; ++id) {
      for (const schedule::TaskId earlier : schedule.tasks[id].after) {
        set(id, static_cast<std::size_t>(earlier));
      }
      for (std::size_t other = 0; other < id; ++other) {
        const schedule::Task& one = schedule.tasks[other];
        const schedule::Task& two = schedule.tasks[id];
        if (one.place == two.place && one.queue == two.queue) {
          set(id, other);
        }
      }
    }
    for (std::size_t through = 0; through < count_; ++through) {  // Warshall
      for (std::size_t id = 0; id < count_; ++id) {
        for (std::size_t word = 0; before(through, id) && word < words_; ++word) {
          ended_[id * words_ + word] |= ended_[through * words_ + word];
        }
      }
    }
  }

  /// `first` has ended when `second` starts.
  bool before(std::size_t first, std::size_t second) const {
    return (ended_[second * words_ + first / word_bits] >> first % word_bits & 1) != 0;
  }

  bool deadlock() const {
    for (std::size_t id = 0; id < count_; ++id) {
      if (before(id, id)) {
        return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t word_bits = 64;

  void set(std::size_t second, std::size_t first) {
    ended_[second * words_ + first / word_bits] |= std::uint64_t{1} << first % word_bits;
  }

  std::size_t count_;
  std::size_t words_;                 ///< of a row
  std::vector<std::uint64_t> ended_;  ///< a row for each second task, a bit for each first one
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
