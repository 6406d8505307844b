// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// exp() in a form that a compiler turns into vectors: no branch, no table, no call.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

namespace zygos::ops {
namespace detail {

template <class T>
struct ExponentialConstants;

/// `shift` is 1.5 times the number above which a type has no fractions: added, it leaves a whole
/// number in the lowest bits. Of `none` that is one below those of normal numbers, which makes a
/// power of two with the bits of zero. ln 2 comes in two parts, the first short enough to be
/// multiplied without an error. Taylor's series up to `terms` is exact to half a unit for |r| <=
/// ln(2) / 2.
template <>
struct ExponentialConstants<float> {
  using Bits = std::uint32_t;
  static constexpr float shift = 12582912.0F;
  static constexpr float ln2_high = 0.693359375F;
  static constexpr float ln2_low = -2.12194440e-4F;
  static constexpr float least = -87.0F;
  static constexpr float none = -88.029692F;
  static constexpr float max_x = 88.0F;
  static constexpr Bits bias = 127;
  static constexpr int mantissa = 23;
  static constexpr int terms = 7;
};
template <>
struct ExponentialConstants<double> {
  using Bits = std::uint64_t;
  static constexpr double shift = 6755399441055744.0;
  static constexpr double ln2_high = 6.93145751953125e-1;
  static constexpr double ln2_low = 1.42860682030941723212e-6;
  static constexpr double least = -708.0;
  static constexpr double none = -709.08956571282410;
  static constexpr double max_x = 709.0;
  static constexpr Bits bias = 1023;
  static constexpr int mantissa = 52;
  static constexpr int terms = 13;
};

constexpr double inverse_factorial(int n) { return n < 2 ? 1.0 : inverse_factorial(n - 1) / n; }

/// 1 + r (1 + r / 2 (1 + ...)) from term `n` on, as Horner has it.
template <int n, class T>
KOKKOS_FORCEINLINE_FUNCTION T exponential_series(T r) {
  if constexpr (n == ExponentialConstants<T>::terms) {
    return static_cast<T>(inverse_factorial(n));
  } else {
    return exponential_series<n + 1>(r) * r + static_cast<T>(inverse_factorial(n));
  }
}

}  // namespace detail

/// exp(x) to about one unit in the last place, for x from -87 to 88 (-708 to 709 in double) only.
/// NaN stays NaN.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T exponential_within(T x) {
  using Constants = detail::ExponentialConstants<T>;
  using Bits = typename Constants::Bits;
  const T shifted = x * T(1.44269504088896340736) + Constants::shift;
  const T whole = shifted - Constants::shift;
  const T r = (x - whole * Constants::ln2_high) - whole * Constants::ln2_low;
  const Bits exponent = (Kokkos::bit_cast<Bits>(shifted) + Constants::bias) << Constants::mantissa;
  return detail::exponential_series<0>(r) * Kokkos::bit_cast<T>(exponent);
}

/// exp(x) to about one unit in the last place; 0 below the smallest normal number, and for x above
/// 88 (709 in double) what it is there. NaN stays NaN.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T exponential(T x) {
  using Constants = detail::ExponentialConstants<T>;
  return exponential_within(x < Constants::least   ? Constants::none
                            : x > Constants::max_x ? Constants::max_x
                                                   : x);
}

}  // namespace zygos::ops
