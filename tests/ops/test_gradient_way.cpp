// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d.hpp"
#include "ops/conv2d_tiled.hpp"
#include "ops/gradient_way.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>

namespace zygos::ops {

TEST_CASE("Weights' gradients go the way that is least work") {
  const auto way = [](const Conv2d& conv) { return gradient_way(forward_product<float>(conv)); };
  const auto w = static_cast<std::int64_t>(thin::width<float>);
  // Short rows, then few samples of them; channels that fill registers; wide rows of one channel.
  CHECK(way({4 * w, 6, 16, 1, {14, 5}, {14, 5}}) == GradientWay::samples);
  CHECK(way({1, 6, 16, 1, {14, 5}, {14, 5}}) == GradientWay::positions);
  CHECK(way({100, 2 * w, 32, 1, {16, 5, 1, 2}, {16, 5, 1, 2}}) == GradientWay::channels);
  CHECK(way({100, 1, 32, 1, {64, 5, 1, 2}, {64, 5, 1, 2}}) == GradientWay::positions);
  CHECK(way({0, 6, 16, 1, {14, 5}, {14, 5}}) == GradientWay::positions);
  CHECK(gradient_way(forward_product<bf16>({100, 2 * w, 32, 1, {16, 5, 1, 2}, {16, 5, 1, 2}})) ==
        GradientWay::positions);
}

}  // namespace zygos::ops
