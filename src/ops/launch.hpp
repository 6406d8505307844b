// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// How elementwise kernels reach the cores. A device runs one thread per element. A host lane runs
// plain loops over fixed chunks, which the compiler can vectorise, and does not wake its other
// threads for work that is shorter than waking them.
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace zygos::ops {

template <class Exec>
concept HostSpace = std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;
template <class Exec>
concept DeviceSpace = !HostSpace<Exec>;

/// Elements per chunk of a host lane: a chunk should take a few microseconds, about what it costs
/// to start and join the lane's threads.
namespace chunk {
inline constexpr std::size_t light = 16384;  ///< copies, sums, products
inline constexpr std::size_t medium = 4096;  ///< optimizers: several streams, a root
inline constexpr std::size_t heavy = 1024;   ///< exponentials, random numbers
}  // namespace chunk

namespace detail {
/// The copy of the body is local, so that the compiler knows that what the body writes does not
/// change it, and keeps its scalars in registers.
template <class Body>
void run_range(const Body& body, std::size_t begin, std::size_t end) {
  const Body local = body;
  for (std::size_t i = begin; i < end; ++i) {
    local(i);
  }
}
}  // namespace detail

/// Calls body(i) for i in [0, n), in no promised order.
template <HostSpace Exec, class Body>
void for_each_element(const char* label, const Exec& exec, std::size_t n, std::size_t chunk_size,
                      const Body& body) {
  if (n <= chunk_size) {
    detail::run_range(body, 0, n);
    return;
  }
  const std::size_t chunks = (n + chunk_size - 1) / chunk_size;
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(exec, 0, chunks),
                       [=](const std::size_t chunk) {
                         const std::size_t begin = chunk * chunk_size;
                         detail::run_range(body, begin, std::min(n, begin + chunk_size));
                       });
}

template <DeviceSpace Exec, class Body>
void for_each_element(const char* label, const Exec& exec, std::size_t n, std::size_t,
                      const Body& body) {
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(exec, 0, n), body);
}

/// f(index) for pieces of unequal work of a host lane: a thread that is done takes the next
/// `together`. The other threads are not woken where there are no more than these.
template <HostSpace Exec, class F>
void for_each_piece(const char* label, const Exec& exec, std::int64_t count, std::int64_t together,
                    const F& f) {
  if (count <= together) {
    for (std::int64_t piece = 0; piece < count; ++piece) {
      f(piece);
    }
    return;
  }
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>>;
  Kokkos::parallel_for(label, Policy(exec, 0, count, Kokkos::ChunkSize(static_cast<int>(together))),
                       [&](const std::int64_t piece) { f(piece); });
}

}  // namespace zygos::ops
