// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include <chrono>
#include <cstdint>
#include <thread>

namespace zygos::test {

/// A machine whose kernels take 10 ms longer while this lives.
class SlowKernels {
 public:
  SlowKernels() {
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(
        [](const char*, std::uint32_t, std::uint64_t*) {
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        });
  }
  ~SlowKernels() { Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr); }
  SlowKernels(const SlowKernels&) = delete;
  SlowKernels& operator=(const SlowKernels&) = delete;
};

}  // namespace zygos::test
