// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "spin.hpp"

#include "zygos/lane/lane.hpp"

#include <chrono>
#include <thread>

namespace zygos::lane {

void wait_precisely(double seconds) {
  using Clock = std::chrono::steady_clock;
  if (!(seconds > 0.0)) {
    return;
  }
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(seconds));
  // A sleep ends up to a timer slack (50 us on Linux) and a wake-up late: leave that much to the
  // spin.
  constexpr std::chrono::microseconds slack{120};
  for (auto now = Clock::now(); now < deadline; now = Clock::now()) {
    if (deadline - now > slack) {
      std::this_thread::sleep_for(deadline - now - slack);
    } else {
      cpu_relax();
    }
  }
}

}  // namespace zygos::lane
