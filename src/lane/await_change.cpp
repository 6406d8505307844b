// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/lane/await_change.hpp"

#include "spin.hpp"

#include <thread>

namespace zygos::lane {

void await_change(const std::atomic<std::uint32_t>& counter, std::uint32_t seen,
                  std::chrono::microseconds patience) {
  const auto give_up = std::chrono::steady_clock::now() + patience;
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

}  // namespace zygos::lane
