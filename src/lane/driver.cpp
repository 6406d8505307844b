// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.hpp"

#include "affinity.hpp"
#include "turns.hpp"

#include "zygos/core/error.hpp"
#include "zygos/lane/await_change.hpp"

#include <utility>

namespace zygos::lane {

Driver::Driver(Work work)
    : thread_([this, work] {
        ask_for_turns(work == Work::messages ? message_turn : lane_turn);
        loop();
      }) {}

Driver::~Driver() {
  if (pending_.load()) {
    wait_for_end(Waiting::yielding);
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

void Driver::join(Waiting how) {
  ZYGOS_REQUIRE(!is_current_thread(), "a lane's job may not wait for its own lane");
  if (!pending_.load()) {
    return;
  }
  wait_for_end(how);
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  pending_.store(false);
  if (failure) {
    std::rethrow_exception(failure);
  }
}

void Driver::loop() noexcept {
  for (std::uint32_t seen = 0;; ++seen) {
    await_change(posted_, seen, computing_spin_timeout);
    if (job_ == nullptr) {
      return;
    }
    try {
      (*job_)();
    } catch (...) {
      failure_ = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      core_ = this_core();
      ended_.store(seen + 1, std::memory_order_release);
    }
    ended_.notify_one();
    has_ended_.notify_one();
  }
}

void Driver::wait_for_end(Waiting how) {
  const std::uint32_t posted = posted_.load(std::memory_order_relaxed);
  if (how == Waiting::yielding) {
    return await_change(ended_, posted - 1, other_spin_timeout);
  }
  std::unique_lock lock(mutex_);
  has_ended_.wait(lock, [&] { return ended_.load(std::memory_order_relaxed) == posted; });
}

}  // namespace zygos::lane
