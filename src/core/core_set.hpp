// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A set of processor cores by their numbers, for the system's calls. cpu_set_t ends at 1024, and
// the system refuses to answer into a set that is smaller than the machine.
#pragma once

#include <sched.h>

#include <array>
#include <cstddef>
#include <vector>

namespace zygos {

class CoreSet {
 public:
  /// Numbers are below this, which is eight times what Linux can be built for.
  static constexpr int most = 1 << 16;

  bool contains(int core) const noexcept {
    return core >= 0 && core < most && CPU_ISSET_S(static_cast<std::size_t>(core), bytes, set());
  }
  /// Does nothing for a number that no core has.
  void add(int core) noexcept {
    if (core >= 0 && core < most) {
      CPU_SET_S(static_cast<std::size_t>(core), bytes, set());
    }
  }
  bool empty() const noexcept { return CPU_COUNT_S(bytes, set()) == 0; }
  /// In rising order.
  std::vector<int> numbers() const {
    std::vector<int> all;
    for (int core = 0; core < most; ++core) {
      if (contains(core)) {
        all.push_back(core);
      }
    }
    return all;
  }

  /// Becomes what the calling thread may use; false if the system does not say.
  bool read() noexcept { return ::sched_getaffinity(0, bytes, set()) == 0; }
  /// The calling thread may use these from now on; false if the system refuses.
  bool apply() const noexcept { return ::sched_setaffinity(0, bytes, set()) == 0; }

 private:
  static constexpr std::size_t bytes = most / 8;

  cpu_set_t* set() noexcept { return reinterpret_cast<cpu_set_t*>(words_.data()); }
  const cpu_set_t* set() const noexcept {
    return reinterpret_cast<const cpu_set_t*>(words_.data());
  }

  std::array<unsigned long, bytes / sizeof(unsigned long)> words_{};
};

}  // namespace zygos
