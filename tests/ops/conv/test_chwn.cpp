// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/host/chwn.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::ops::test_chwn {
namespace {

using testing::random_values_of;

}  // namespace

TEMPLATE_TEST_CASE(
    "Images in CHWN layout have a vector per element and zeros for samples that are missing", "",
    float, double) {
  using T = TestType;
  constexpr std::int64_t w = microkernel::width<T>;
  const std::int64_t missing = GENERATE(0, 1);
  const std::int64_t count = w - missing;
  const std::int64_t numbers = GENERATE(0, 1, 7, 16, 37, 64);
  CAPTURE(count, numbers);
  const std::int64_t stride = numbers + 5;
  const std::vector<T> images = random_values_of<T>(static_cast<std::size_t>(w * stride), 1);
  std::vector<T> transposed(static_cast<std::size_t>(numbers * w + 1), T(7));

  to_chwn(images.data(), stride, count, numbers, transposed.data());
  for (std::int64_t i = 0; i < numbers; ++i) {
    for (std::int64_t sample = 0; sample < w; ++sample) {
      const T expected =
          sample < count ? images[static_cast<std::size_t>(sample * stride + i)] : T(0);
      REQUIRE(transposed[static_cast<std::size_t>(i * w + sample)] == expected);
    }
  }
  CHECK(transposed.back() == T(7));

  std::vector<T> back(static_cast<std::size_t>(w * stride), T(7));
  from_chwn(transposed.data(), count, numbers, back.data(), stride);
  for (std::int64_t sample = 0; sample < w; ++sample) {
    for (std::int64_t i = 0; i < stride; ++i) {
      const auto at = static_cast<std::size_t>(sample * stride + i);
      REQUIRE(back[at] == (sample < count && i < numbers ? images[at] : T(7)));
    }
  }
}

TEST_CASE("A band is as many rows of pixels as a thread has room to look at") {
  using Axis = WindowAxis;
  const auto bands = [](std::int64_t channels, std::int64_t extent, std::int64_t taps) {
    const Axis axis{extent, taps, 0, 1, extent - taps + 1, 1, extent - taps + 1};
    return ChwnBand<double>::bands({16, 1, channels, 1, axis, axis, nullptr, nullptr, nullptr});
  };
  CHECK(bands(1, 9, 3) == 1);
  CHECK(bands(1, 130, 3) == 128);  // a row each
  CHECK(bands(1, 131, 3) == 0);    // a row is longer than a band
  // Taps of all channels, and their vectors.
  constexpr std::int64_t fitting = std::min(grid_vectors, max_depth) / 9;
  CHECK(bands(fitting, 3, 3) == 1);
  CHECK(bands(fitting + 1, 3, 3) == 0);
  CHECK(bands(0, 9, 3) == 0);
}

}  // namespace zygos::ops::test_chwn
