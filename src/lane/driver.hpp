// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace zygos::lane {

/// A thread that runs one job at a time, handed over by one caller at a time. Handing over costs no
/// allocation and, while the thread still spins, no system call.
class Driver {
 public:
  enum class Work : std::uint8_t { computing, messages };

  explicit Driver(Work work = Work::computing);
  /// Waits for a pending job (dropping what it threw), then ends the thread.
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// `job` must stay alive until join(). Throws InternalError while another job is pending.
  void post(const std::function<void()>& job);
  /// Blocks until the posted job has ended and rethrows what it threw; returns at once without one.
  void join();
  /// Where the last job that was waited for ended; -1: there was none.
  int core() const noexcept { return core_; }
  bool is_current_thread() const noexcept { return std::this_thread::get_id() == thread_.get_id(); }

 private:
  void loop() noexcept;
  void hand_over(const std::function<void()>* job);

  /// Until what was posted has ended. Asleep, and at once: an atomic's wait() and await_change()
  /// yield before they sleep, and if it is to a thread of the lane's team, that waits for its next
  /// kernel without ever sleeping, then the caller has its core back after 4 ms.
  void wait_for_end();

  std::atomic<std::uint32_t> posted_{0};
  std::uint32_t ended_ = 0;
  int core_ = -1;
  std::mutex mutex_;  ///< for ended_ and core_
  std::condition_variable has_ended_;
  std::atomic<bool> pending_{false};
  const std::function<void()>* job_ = nullptr;  // null: end the thread
  std::exception_ptr failure_;
  std::thread thread_;  // last: everything it reads exists before it starts
};

}  // namespace zygos::lane
