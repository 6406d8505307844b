// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/weights/half.hpp"

#include <bit>
#include <cmath>
#include <cstring>

namespace zygos::io {

float float_of_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16U;
  const std::uint32_t exponent = half >> 10U & 0x1FU;
  const std::uint32_t fraction = half & 0x3FFU;
  if (exponent == 0) {  // zero or subnormal: fraction * 2^-24
    const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    return sign == 0 ? magnitude : -magnitude;
  }
  // Infinity and NaN keep all ones; else the biases are 15 and 127.
  const std::uint32_t wide = exponent == 0x1FU ? 0xFFU : exponent + 112U;
  return std::bit_cast<float>(sign | wide << 23U | fraction << 13U);
}

std::vector<std::byte> widened(std::span<const std::byte> halves) {
  std::vector<std::byte> out(halves.size() * 2);
  for (std::size_t i = 0; i < halves.size() / 2; ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, halves.data() + i * sizeof(half), sizeof(half));
    const float value = float_of_half(half);
    std::memcpy(out.data() + i * sizeof(value), &value, sizeof(value));
  }
  return out;
}

}  // namespace zygos::io
