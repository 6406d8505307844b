// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/lane/await_change.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

namespace zygos::train {

/// One flag per task for order between places: the round (step or evaluation) in which the task
/// last ended. Waiting is awake for a while, since a peer is often almost there, then asleep.
class TaskSignals {
 public:
  explicit TaskSignals(std::size_t tasks) : flags_(tasks) {}

  void set(std::size_t task, std::uint32_t round) noexcept {
    flags_[task].round.store(round, std::memory_order_release);
    flags_[task].round.notify_all();
  }

  bool is_set(std::size_t task, std::uint32_t round) const noexcept {
    return flags_[task].round.load(std::memory_order_acquire) == round;
  }

  /// For `patience` awake, see lane::await_change.
  void wait(std::size_t task, std::uint32_t round, std::chrono::microseconds patience) const {
    const std::atomic<std::uint32_t>& flag = flags_[task].round;
    for (auto seen = flag.load(std::memory_order_acquire); seen != round;
         seen = flag.load(std::memory_order_acquire)) {
      lane::await_change(flag, seen, patience);
    }
  }

 private:
  /// A cache line each, so that a waiter does not slow the place that signals its neighbour.
  struct alignas(64) Flag {
    std::atomic<std::uint32_t> round{0};
  };
  std::vector<Flag> flags_;
};

}  // namespace zygos::train
