// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/lane/dispatch.hpp"

#include <string>
#include <type_traits>

namespace zygos::testing {

/// Runs `body(i)` for i < count as a kernel of a host or emulated lane. Unlike a kernel for all
/// spaces it may use flags and system calls of the host.
template <class Body>
void host_kernel(const lane::Execution& execution, const std::string& label, int count,
                 const Body& body) {
  lane::dispatch(execution, [&](const auto& exec) {
    using Exec = std::decay_t<decltype(exec)>;
    if constexpr (std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>) {
      Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(exec, 0, count), body);
    }
  });
}

}  // namespace zygos::testing
