// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/bf16.hpp"

#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace zygos::core::test_bf16 {
using zygos::bf16;

namespace {

bf16 of_bits(std::uint32_t bits) {
  bf16 number{};
  number.bits = static_cast<std::uint16_t>(bits);
  return number;
}

constexpr float infinite = std::numeric_limits<float>::infinity();

}  // namespace

static_assert(float{bf16(1.0F)} == 1.0F && bf16(-2).bits == 0xC000);
static_assert(std::is_same_v<zygos::Wide<bf16>, float> &&
              std::is_same_v<zygos::Wide<double>, double>);

TEST_CASE("every bf16 comes back from float with its bits, NaN as a NaN", "[core]") {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const bf16 number = of_bits(bits);
    const float value = number;
    if (std::isnan(value)) {
      CHECK(std::isnan(float{bf16(value)}));
      CHECK((bf16(value).bits & 0x8000U) == (bits & 0x8000U));
    } else {
      CHECK(bf16(value).bits == bits);
    }
  }
}

TEST_CASE("between two numbers of bf16 the nearest is taken, halfway the even one", "[core]") {
  for (std::uint32_t bits = 0; bits < 0x7F80; ++bits) {
    const float here = of_bits(bits);
    const float next = of_bits(bits + 1);
    const auto between = std::bit_cast<std::uint32_t>(here) + 0x8000U;
    CAPTURE(bits);
    CHECK(bf16(std::bit_cast<float>(between - 1)).bits == bits);
    CHECK(bf16(std::bit_cast<float>(between)).bits == bits + (bits & 1U));
    CHECK(bf16(std::bit_cast<float>(between + 1)).bits == bits + 1);
    CHECK(bf16(-here).bits == (bits | 0x8000U));
    CHECK(next > here);
  }
}

TEST_CASE("numbers too large for bf16 become infinite, and NaN never does", "[core]") {
  CHECK(float{bf16(std::numeric_limits<float>::max())} == infinite);
  CHECK(float{bf16(-1e300)} == -infinite);
  for (const std::uint32_t payload : {1U, 0x7FFFU, 0x8000U, 0x3FFFFFU, 0x7FFFFFU}) {
    CHECK(std::isnan(float{bf16(std::bit_cast<float>(0x7F800000U | payload))}));
    CHECK(std::isnan(float{bf16(std::bit_cast<float>(0xFF800000U | payload))}));
  }
}

TEST_CASE("a rounding to bf16 errs by a part in 256 at most", "[core]") {
  double worst = 0.0;
  for (float value = 1.0F; value < 4.0F; value += 0.000731F) {
    worst = std::max(worst, std::abs(double{bf16(value)} - value) / value);
  }
  CHECK(worst <= 1.0 / 256.0);
  CHECK(worst > 0.9 / 256.0);
}

}  // namespace zygos::core::test_bf16
