// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// bfloat16: the upper half of a float, so with its range and 8 significant bits. A type to store
// numbers in, not to compute in: it widens to float without being asked and comes back only when
// asked. Everything is constexpr, which is what makes it callable from host and device kernels.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace zygos {

struct bf16 {
  std::uint16_t bits;

  bf16() = default;
  /// To the nearest, ties to even; what is too large for it becomes infinite, NaN stays NaN. A
  /// double is rounded to float first.
  template <class Number>
  requires std::is_arithmetic_v<Number>
  constexpr explicit bf16(Number value) : bits(rounded(static_cast<float>(value))) {}
  constexpr operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
  }

 private:
  static constexpr std::uint16_t rounded(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t nearest = word + 0x7FFFU + ((word >> 16U) & 1U);
    // Rounding would carry a NaN's payload into its sign.
    const std::uint32_t kept = (word & 0x7FFFFFFFU) > 0x7F800000U ? word | 0x00400000U : nearest;
    return static_cast<std::uint16_t>(kept >> 16U);
  }
};
static_assert(sizeof(bf16) == 2 && std::is_trivially_copyable_v<bf16>);

/// What numbers stored as T are computed in; also the type of the parameters, and of all that is
/// summed, in a model whose activations are stored as T: float for bf16, else T itself.
template <class T>
struct WideOf {
  using type = T;
};
template <>
struct WideOf<bf16> {
  using type = float;
};
template <class T>
using Wide = typename WideOf<T>::type;

}  // namespace zygos
