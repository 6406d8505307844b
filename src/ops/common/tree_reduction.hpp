// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Pairwise (tree) reduction of SIMD accumulators: the upper half is combined with the lower one
// until one is left, in vectors; a chain of additions would wait for its own latency.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>

namespace zygos::ops {

namespace detail {

/// numbers[j] = f(numbers[j], numbers[j + half]) for smaller and smaller halves, each a loop of a
/// length that the compiler knows.
template <std::size_t half, class T, class F>
KOKKOS_FORCEINLINE_FUNCTION T fold(T* numbers, const F& f) {
  if constexpr (half == 0) {
    return numbers[0];
  } else {
    for (std::size_t j = 0; j < half; ++j) {
      numbers[j] = f(numbers[j], numbers[j + half]);
    }
    return fold<half / 2>(numbers, f);
  }
}

template <class T>
struct Plus {
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct Larger {
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T a, T b) const { return b > a ? b : a; }
};

}  // namespace detail

/// Their sum; changes them. `count` is a power of two.
template <class T, std::size_t count>
KOKKOS_FORCEINLINE_FUNCTION T tree_sum(T (&numbers)[count]) {
  static_assert((count & (count - 1)) == 0);
  return detail::fold<count / 2>(numbers, detail::Plus<T>{});
}

/// The largest of them; changes them. NaN among the upper half is passed over.
template <class T, std::size_t count>
KOKKOS_FORCEINLINE_FUNCTION T tree_max(T (&numbers)[count]) {
  static_assert((count & (count - 1)) == 0);
  return detail::fold<count / 2>(numbers, detail::Larger<T>{});
}

}  // namespace zygos::ops
