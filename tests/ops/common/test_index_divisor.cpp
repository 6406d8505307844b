// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/common/index_divisor.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace zygos::ops::test_index_divisor {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

/// Small numbers, and those beside powers of two.
std::vector<std::int64_t> divisors() {
  std::vector<std::int64_t> found;
  for (std::int64_t value = 1; value <= 70; ++value) {
    found.push_back(value);
  }
  for (int bit = 7; bit < 63; ++bit) {
    const std::int64_t power = std::int64_t{1} << bit;
    found.insert(found.end(), {power - 1, power, power + 1, power / 3 * 2 + 1});
  }
  found.push_back(largest);
  return found;
}

/// Where a quotient that is rounded wrongly would show: on both sides of multiples.
std::vector<std::int64_t> indices(std::int64_t value) {
  std::vector<std::int64_t> found{0, 1, largest - 1, largest};
  for (std::int64_t times = 1; times <= largest / value / 5; times *= 5) {
    found.insert(found.end(), {times * value - 1, times * value});
  }
  const std::int64_t last = largest / value * value;
  found.insert(found.end(), {last - 1, last});
  return found;
}

TEST_CASE("an index divisor divides as the processor does, up to the largest index") {
  for (const std::int64_t value : divisors()) {
    const IndexDivisor divisor(value);
    for (const std::int64_t n : indices(value)) {
      const IndexDivisor::Parts parts = divisor.divide(n);
      if (parts.quotient != n / value || parts.rest != n % value) {
        FAIL(n << " by " << value << ": " << parts.quotient << " and " << parts.rest);
      }
    }
  }
}

TEST_CASE("an index divisor of nothing divides by one") {
  CHECK(IndexDivisor(0).divide(7).quotient == 7);
  CHECK(IndexDivisor(0).divide(7).rest == 0);
}

}  // namespace
}  // namespace zygos::ops::test_index_divisor
