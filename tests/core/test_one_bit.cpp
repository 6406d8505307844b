// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/one_bit.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace zygos::test_one_bit {
namespace {

std::vector<std::int64_t> exact_steps(const OneBitSteps& steps, std::int64_t last) {
  std::vector<std::int64_t> exact;
  for (std::int64_t step = 1; step <= last; ++step) {
    if (!steps.compresses(step)) {
      exact.push_back(step);
    }
  }
  return exact;
}

}  // namespace

TEST_CASE("Bytes of one bit an element are magnitudes of blocks and signs") {
  CHECK(one_bit_bytes(0, 4) == 0);
  CHECK(one_bit_bytes(1, 4) == 4 + 1);
  CHECK(one_bit_bytes(1024, 4) == 4 + 128);
  CHECK(one_bit_bytes(1025, 8) == 16 + 129);
}

TEST_CASE("Without steps of its own an optimizer compresses none") {
  const OneBitSteps none;
  CHECK(exact_steps(none, 5) == std::vector<std::int64_t>{1, 2, 3, 4, 5});
  CHECK(none.exact_among(5) == 5);
}

TEST_CASE("All steps after the freeze are compressed where nothing is refreshed") {
  const OneBitSteps steps{.after = 3};
  CHECK(exact_steps(steps, 100) == std::vector<std::int64_t>{1, 2, 3});
  CHECK(steps.last_exact(50) == 3);
  CHECK(steps.exact_among(100) == 3);
}

TEST_CASE("Refreshes have distances of 1, 2, 4 and so on, as many of each") {
  const OneBitSteps steps{.after = 3, .refresh = 2};
  CHECK(exact_steps(steps, 40) == std::vector<std::int64_t>{1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33});
  const OneBitSteps three{.after = 1, .refresh = 3};
  CHECK(exact_steps(three, 22) == std::vector<std::int64_t>{1, 2, 3, 4, 6, 8, 10, 14, 18, 22});
}

TEST_CASE("Numbers of exact steps and the last of them are those of a count") {
  for (const std::int64_t refresh : {0, 1, 2, 5, 16}) {
    const OneBitSteps steps{.after = 7, .refresh = refresh};
    std::int64_t count = 0;
    std::int64_t last = 0;
    for (std::int64_t step = 1; step <= 3000; ++step) {
      if (!steps.compresses(step)) {
        ++count;
        last = step;
      }
      REQUIRE(steps.exact_among(step) == count);
      REQUIRE(steps.last_exact(step) == last);
    }
  }
}

TEST_CASE("The steps of the longest runs are told, too") {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  const OneBitSteps steps{.after = 1, .refresh = 1};
  CHECK(steps.exact_among(largest) == 1 + 62);
  CHECK(steps.last_exact(largest) == (std::int64_t{1} << 62));
  CHECK(OneBitSteps{.after = 1, .refresh = largest}.exact_among(largest) == largest);
}

}  // namespace zygos::test_one_bit
