// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.hpp"

#include "spin.hpp"
#include "turns.hpp"

#include "zygos/core/error.hpp"

#include <chrono>
#include <utility>

namespace zygos::lane {
namespace {

// Between two tasks of a training step an idle driver waits some ten microseconds, less than a
// futex takes to wake it; between two steps it must not burn a core that another lane needs.
constexpr std::chrono::microseconds idle_spin{50};
// The caller has nothing to win: its core is better left to the lanes.
constexpr std::chrono::microseconds join_spin{2};

/// Returns once `counter` differs from `seen`.
void await_change(const std::atomic<std::uint32_t>& counter, std::uint32_t seen,
                  std::chrono::microseconds spin) {
  const auto give_up = std::chrono::steady_clock::now() + spin;
  while (counter.load(std::memory_order_acquire) == seen) {
    for (int i = 0; i < 32 && counter.load(std::memory_order_relaxed) == seen; ++i) {
      cpu_relax();
    }
    if (std::chrono::steady_clock::now() >= give_up) {
      counter.wait(seen, std::memory_order_acquire);
    } else {
      // With as many lanes as cores, whoever brings the next job needs the core of a spinner.
      std::this_thread::yield();
    }
  }
}

}  // namespace

Driver::Driver(Work work)
    : thread_([this, work] {
        ask_for_turns(work == Work::messages ? message_turn : lane_turn);
        loop();
      }) {}

Driver::~Driver() {
  if (pending_.load()) {
    await_change(ended_, posted_.load() - 1, join_spin);
  }
  hand_over(nullptr);
  thread_.join();
}

void Driver::post(const std::function<void()>& job) {
  if (pending_.exchange(true)) {
    throw InternalError("a lane was given a job before wait() was called for the one it has");
  }
  hand_over(&job);
}

void Driver::hand_over(const std::function<void()>* job) {
  job_ = job;
  posted_.fetch_add(1, std::memory_order_release);
  posted_.notify_one();
}

void Driver::join() {
  ZYGOS_REQUIRE(!is_current_thread(), "a lane's job may not wait for its own lane");
  if (!pending_.load()) {
    return;
  }
  await_change(ended_, posted_.load(std::memory_order_relaxed) - 1, join_spin);
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  pending_.store(false);
  if (failure) {
    std::rethrow_exception(failure);
  }
}

void Driver::loop() noexcept {
  for (std::uint32_t seen = 0;; ++seen) {
    await_change(posted_, seen, idle_spin);
    if (job_ == nullptr) {
      return;
    }
    try {
      (*job_)();
    } catch (...) {
      failure_ = std::current_exception();
    }
    ended_.store(seen + 1, std::memory_order_release);
    ended_.notify_one();
  }
}

}  // namespace zygos::lane
