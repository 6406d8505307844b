// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/lane/await_change.hpp"

#include "spin.hpp"

#include <thread>

namespace zygos::lane {

void await_change(const std::atomic<std::uint32_t>& counter, std::uint32_t seen,
                  std::chrono::microseconds spin_timeout, GivesWay gives_way) {
  const auto give_up = std::chrono::steady_clock::now() + spin_timeout;
  while (counter.load(std::memory_order_acquire) == seen) {
    for (int i = 0; i < 32 && counter.load(std::memory_order_relaxed) == seen; ++i) {
      cpu_relax();
    }
    if (std::chrono::steady_clock::now() >= give_up) {
      counter.wait(seen, std::memory_order_acquire);
    } else if (gives_way == GivesWay::yes) {
      // With as many lanes as cores, whoever brings the next job needs the core of a spinner.
      std::this_thread::yield();
    }
  }
}

void await_change(const std::atomic<std::uint32_t>& counter, std::uint32_t seen,
                  std::chrono::steady_clock::time_point until) {
  // A sleep ends up to a timer slack (50 us on Linux) and a wake-up late. Whoever changes the
  // counter can't end it: it is a short one.
  constexpr std::chrono::microseconds slack{120};
  constexpr std::chrono::microseconds nap{100};
  for (auto now = std::chrono::steady_clock::now();
       now < until && counter.load(std::memory_order_acquire) == seen;
       now = std::chrono::steady_clock::now()) {
    if (until - now > slack + nap) {
      std::this_thread::sleep_for(nap);
    } else {
      cpu_relax();
    }
  }
}

}  // namespace zygos::lane
