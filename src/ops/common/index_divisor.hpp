// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Division of indices by a number that is the same for a whole launch. Devices have no instruction
// for it: the compiler's routine for 64 bits takes some 70, a product and two shifts take a few.
// (Granlund and Montgomery, "Division by invariant integers using multiplication", 1994.)
#pragma once

#include <Kokkos_Core.hpp>

#include <bit>
#include <cstdint>

namespace zygos::ops {

namespace detail {
__extension__ typedef unsigned __int128 DoubleWord;  // nvcc takes no alias behind __extension__
}  // namespace detail

/// n / value and n % value for 0 <= n < 2^63, exactly. With 2^(l-1) < value <= 2^l and
/// factor = ceil(2^(63+l) / value), n / value is the whole part of n factor / 2^(63+l).
class IndexDivisor {
 public:
  struct Parts {
    std::int64_t quotient;
    std::int64_t rest;
  };

  /// `value` >= 1; what is less counts as 1, for launches over nothing.
  explicit IndexDivisor(std::int64_t value = 1)
      : value_(value < 1 ? 1 : static_cast<std::uint64_t>(value)),
        shift_(static_cast<int>(std::bit_width(value_ - 1))),
        factor_(static_cast<std::uint64_t>(((detail::DoubleWord{1} << (63 + shift_)) + value_ - 1) /
                                           value_)) {}

  KOKKOS_INLINE_FUNCTION std::int64_t quotient(std::int64_t n) const {
    const detail::DoubleWord product =
        static_cast<detail::DoubleWord>(static_cast<std::uint64_t>(n) << 1) * factor_;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(product >> 64) >> shift_);
  }
  KOKKOS_INLINE_FUNCTION Parts divide(std::int64_t n) const {
    const std::int64_t whole = quotient(n);
    return {whole, n - whole * static_cast<std::int64_t>(value_)};
  }

 private:
  std::uint64_t value_;
  int shift_;  ///< l
  std::uint64_t factor_;
};

}  // namespace zygos::ops
