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

  /// How a caller waits. Yielding, it goes on without being woken once drivers do nothing but wait.
  /// But it must not yield to a thread of a lane's team, which spins for its next kernel: it
  /// would have its core back after 4 ms. An atomic's wait() yields, too.
  enum class Waiting : std::uint8_t { yielding, asleep };

  explicit Driver(Work work = Work::computing);
  /// Waits for a pending job (dropping what it threw), then ends the thread.
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// `job` must stay alive until join(). Throws InternalError while another job is pending.
  void post(const std::function<void()>& job);
  /// Blocks until the posted job has ended and rethrows what it threw; returns at once without one.
  void join(Waiting how = Waiting::yielding);
  /// Where the last job that was waited for ended; -1: there was none.
  int core() const noexcept { return core_; }
  bool is_current_thread() const noexcept { return std::this_thread::get_id() == thread_.get_id(); }

 private:
  void loop() noexcept;
  void hand_over(const std::function<void()>* job);

  void wait_for_end(Waiting how);

  std::atomic<std::uint32_t> posted_{0};
  std::atomic<std::uint32_t> ended_{0};
  int core_ = -1;
  std::mutex mutex_;  ///< ended_ and core_ are written under it
  std::condition_variable has_ended_;
  std::atomic<bool> pending_{false};
  const std::function<void()>* job_ = nullptr;  // null: end the thread
  std::exception_ptr failure_;
  std::thread thread_;  // last: everything it reads exists before it starts
};

}  // namespace zygos::lane
