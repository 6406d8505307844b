// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// How elementwise kernels reach the cores. A device runs one thread per element. A host lane runs
// plain loops over fixed chunks, which the compiler can vectorise, and does not wake its other
// threads for work that is shorter than waking them.
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace zygos::ops {

template <class Exec>
concept HostSpace = std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;
template <class Exec>
concept DeviceSpace = !HostSpace<Exec>;

/// Threads of a team that asks for so many on a device. A host's teams have one thread; a test may
/// still compute there what a device would.
template <class Exec>
constexpr int threads_of_team(std::size_t threads) {
  return HostSpace<Exec> ? 1 : static_cast<int>(threads);
}

/// Scratch memory that a team of a device has without asking for more (48 KiB of shared memory on
/// every NVIDIA GPU).
inline constexpr std::size_t max_team_scratch = std::size_t{48} << 10U;

/// The policy, with its kernel's functor as the kernel's argument. Of a functor that is not small
/// (512 bytes) Kokkos makes a copy in constant memory first: launches then wait on the host until
/// the last such kernel has begun to run, whatever its stream, and can't be captured into a CUDA
/// graph. For functors of less than 4 KiB, CUDA's limit for arguments.
template <class Policy>
auto functor_as_argument(const Policy& policy) {
  return Kokkos::Experimental::require(policy,
                                       Kokkos::Experimental::WorkItemProperty::HintLightWeight);
}

/// A device's ranges of elements: Kokkos counts them in 32 bits on some devices unless told
/// otherwise.
template <class Exec>
using ElementRange = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::size_t>>;

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
  Kokkos::parallel_for(label, ElementRange<Exec>(exec, 0, n), body);
}

/// Pieces [0, count) of a host lane's threads. Each has a range of its own, so that what follows
/// finds in its cache what it wrote before; one that is done helps the others. (Kokkos' dynamic
/// schedule does the same, but lets all threads wait for each other once more.)
class Pieces {
 public:
  Pieces(std::int64_t count, std::int64_t together, std::int64_t threads)
      : count_(count), together_(together), threads_(std::min(threads, max_threads)) {
    for (std::int64_t thread = 0; thread < threads_; ++thread) {
      next_[static_cast<std::size_t>(thread)].piece = begin_of(thread);
    }
  }
  std::int64_t threads() const { return threads_; }

  template <class F>
  void run(std::int64_t thread, const F& f) {
    for (std::int64_t round = 0; round < threads_; ++round) {
      const std::int64_t owner = (thread + round) % threads_;
      const std::int64_t end = begin_of(owner + 1);
      const std::atomic_ref<std::int64_t> next(next_[static_cast<std::size_t>(owner)].piece);
      while (next.load(std::memory_order_relaxed) < end) {
        const std::int64_t first = next.fetch_add(together_, std::memory_order_relaxed);
        for (std::int64_t piece = first; piece < std::min(first + together_, end); ++piece) {
          f(piece);
        }
      }
    }
  }

 private:
  static constexpr std::int64_t max_threads = 256;
  struct alignas(64) Next {
    std::int64_t piece;
  };
  std::int64_t begin_of(std::int64_t thread) const { return count_ * thread / threads_; }

  std::int64_t count_;
  std::int64_t together_;
  std::int64_t threads_;
  std::array<Next, max_threads> next_;  ///< of the first `threads_` only
};

/// f(index) for pieces of unequal work of a host lane: a thread that is done takes the next
/// `together`. The other threads are not woken where there are no more than these.
template <HostSpace Exec, class F>
void for_each_piece(const char* label, const Exec& exec, std::int64_t count, std::int64_t together,
                    const F& f) {
  if (count <= together || exec.concurrency() == 1) {
    for (std::int64_t piece = 0; piece < count; ++piece) {
      f(piece);
    }
    return;
  }
  Pieces pieces(count, together, exec.concurrency());
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(exec, 0, pieces.threads()),
                       [&](const std::int64_t thread) { pieces.run(thread, f); });
}

}  // namespace zygos::ops
