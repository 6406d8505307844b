// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::train {

/// Order between threads. One flag per task: the round (step or evaluation) in which it last ran,
/// and when it ends, which may lie ahead: a link that is a model takes its time without a thread.
/// One counter per worker, which changes whenever a task has run that the worker listens to.
class TaskSignals {
 public:
  TaskSignals(std::size_t tasks, std::size_t workers)
      : flags_(tasks), listeners_(tasks), news_(workers) {}

  /// Before the first round. Once is enough.
  void listen(std::size_t task, std::size_t worker) {
    std::vector<std::size_t>& known = listeners_[task];
    if (std::ranges::find(known, worker) == known.end()) {
      known.push_back(worker);
    }
  }

  /// `end_s`: on the engine's clock; 0: it has ended.
  void set(std::size_t task, std::uint32_t round, double end_s = 0.0) noexcept {
    flags_[task].end_s = end_s;
    flags_[task].round.store(round, std::memory_order_release);
    for (const std::size_t worker : listeners_[task]) {
      wake(worker);
    }
  }

  bool is_set(std::size_t task, std::uint32_t round) const noexcept {
    return flags_[task].round.load(std::memory_order_acquire) == round;
  }

  /// Of a task that is set.
  double end_s(std::size_t task) const noexcept { return flags_[task].end_s; }

  /// For a worker to wait for. Who reads it, then finds nothing to do, and then waits for it to
  /// change misses nothing.
  const std::atomic<std::uint32_t>& news(std::size_t worker) const noexcept {
    return news_[worker].count;
  }

  void wake_all() noexcept {
    for (std::size_t worker = 0; worker < news_.size(); ++worker) {
      wake(worker);
    }
  }

 private:
  void wake(std::size_t worker) noexcept {
    news_[worker].count.fetch_add(1, std::memory_order_release);
    news_[worker].count.notify_one();
  }

  /// A cache line each, so that a waiter does not slow the place that signals its neighbour.
  struct alignas(64) Flag {
    std::atomic<std::uint32_t> round{0};
    double end_s = 0.0;
  };
  struct alignas(64) News {
    std::atomic<std::uint32_t> count{0};
  };
  std::vector<Flag> flags_;
  std::vector<std::vector<std::size_t>> listeners_;  ///< by task
  std::vector<News> news_;
};

}  // namespace zygos::train
