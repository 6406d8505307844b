// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/saturated.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <limits>

namespace zygos::test_saturated {

TEST_CASE("A product that 64 bits cannot hold is the largest number they can") {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  CHECK(saturated_product(6, 7) == 42);
  CHECK(saturated_product(0, largest) == 0);
  CHECK(saturated_product(largest, 0) == 0);
  CHECK(saturated_product(1, largest) == largest);
  CHECK(saturated_product(std::int64_t{1} << 31, std::int64_t{1} << 31) == std::int64_t{1} << 62);
  CHECK(saturated_product(std::int64_t{1} << 32, std::int64_t{1} << 31) == largest);
  CHECK(saturated_product(largest, largest) == largest);
}

TEST_CASE("A common multiple that 64 bits cannot hold is the largest number they can") {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  CHECK(saturated_lcm(8, 12) == 24);
  CHECK(saturated_lcm(1, largest) == largest);
  CHECK(saturated_lcm(largest, largest - 1) == largest);
}

}  // namespace zygos::test_saturated
