// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/comm/communicator.hpp"

#include <chrono>
#include <thread>

namespace zygos::comm {

/// Waits politely: gives way at first, sleeps when the wait gets long. Ranks may outnumber the
/// cores.
class Backoff {
 public:
  /// As long as the communicator waits, or for another limit.
  explicit Backoff(Communicator& owner) : Backoff(owner, owner.options().time_limit_s) {}
  Backoff(Communicator& owner, double limit_s)
      : owner_(owner), limit_(limit_s), begun_(std::chrono::steady_clock::now()) {}

  /// Lets others run; false once the limit has passed.
  bool pause() {
    if (++pauses_ < yields) {
      owner_.give_way();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return std::chrono::steady_clock::now() - begun_ < limit_;
  }

 private:
  static constexpr int yields = 1000;
  Communicator& owner_;
  std::chrono::duration<double> limit_;
  std::chrono::steady_clock::time_point begun_;
  int pauses_ = 0;
};

}  // namespace zygos::comm
