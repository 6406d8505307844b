// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/gradient_check.hpp"

#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>
#include <vector>

namespace zygos::nn::test_pool2d {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::check_layer_gradients;
using testing::LayerRun;
using testing::random_integer;
using testing::values_of;

Pool2dOptions random_options(std::uint64_t round) {
  const AxisPair kernel{random_integer(1, 4, round, 1), random_integer(1, 4, round, 2)};
  return {.kernel = kernel,
          .stride = {random_integer(1, 3, round, 3), random_integer(1, 3, round, 4)},
          .padding = {random_integer(0, kernel.y - 1, round, 5),
                      random_integer(0, kernel.x - 1, round, 6)},
          .ceil = round % 2 == 0,
          .count_padding = round % 3 == 0};
}

}  // namespace

TEST_CASE("The gradients of pooling equal difference quotients") {
  for (std::uint64_t round = 0; round < 40; ++round) {
    const Pool2dOptions options = random_options(round);
    const Shape shape{random_integer(1, 3, round, 20), random_integer(4, 9, round, 21),
                      random_integer(4, 40, round, 22)};
    CAPTURE(round, options.kernel.y, options.kernel.x, shape.text());
    for (const LayerPtr& layer : {max_pool2d(options), average_pool2d(options)}) {
      LayerRun run(layer, {shape}, random_integer(1, 3, round, 23), round);
      CHECK(check_layer_gradients(run) == "");
    }
  }
}

TEST_CASE("Pooling rounds its output down, or up as Caffe does") {
  const auto extent = [](std::int64_t input, const Pool2dOptions& options) {
    return max_pool2d(options)->infer(std::array{Shape{3, input, input}})[1];
  };

  CHECK(extent(32, {.kernel = {3, 3}, .stride = {2, 2}}) == 15);
  CHECK(extent(32, {.kernel = {3, 3}, .stride = {2, 2}, .ceil = true}) == 16);
  CHECK(extent(16, {.kernel = {3, 3}, .stride = {2, 2}, .ceil = true}) == 8);
  CHECK(extent(33, {.kernel = {3, 3}, .stride = {2, 2}, .ceil = true}) == 16);
  // Rounded up it were 4, but the fourth window would begin behind the input.
  CHECK(extent(5, {.kernel = {2, 2}, .stride = {2, 2}, .padding = {1, 1}, .ceil = true}) == 3);
  CHECK(extent(2, {.kernel = {3, 3}, .stride = {2, 2}, .ceil = true}) == 1);
}

TEST_CASE("A mean counts the padding where it is told to") {
  const Pool2dOptions options{.kernel = {2, 2}, .stride = {2, 2}, .padding = {1, 1}};
  Pool2dOptions counting = options;
  counting.count_padding = true;
  const auto corner = [](const LayerPtr& layer) {
    LayerRun run(layer, {Shape{1, 2, 2}}, 1, 1);
    std::fill_n(run.inputs[0].data<double>(), 4, 8.0);
    run.forward();
    return values_of(run.output)[0];
  };

  CHECK(corner(average_pool2d(options)) == 8.0);
  CHECK(corner(average_pool2d(counting)) == 2.0);
}

TEST_CASE("Pooling declares what it needs") {
  const std::array inputs{Shape{2, 8, 8}};
  const auto layer = max_pool2d({.kernel = {2, 2}, .stride = {2, 2}});
  const auto workspace = layer->workspace(5, inputs, DType::f64);

  REQUIRE(workspace.size() == 1);
  CHECK(workspace[0].shape == Shape{5, 2, 4, 4});
  CHECK(workspace[0].dtype == DType::i32);
  CHECK(workspace[0].kept);
  CHECK(layer->parameters(inputs).empty());
  CHECK(layer->forward_cost(5, inputs, DType::f32).bytes == 4.0 * 5 * 2 * (64 + 16));
  CHECK(layer->backward_cost(5, inputs, DType::f32, false).bytes == 0.0);
}

TEST_CASE("Pooling refuses what it can't do") {
  CHECK_THROWS_WITH(max_pool2d({.kernel = {0, 2}}), ContainsSubstring("kernel is 0"));
  CHECK_THROWS_WITH(max_pool2d({.kernel = {2, 2}, .padding = {2, 0}}),
                    ContainsSubstring("the padding is not smaller than the kernel"));
  CHECK_THROWS_WITH(
      average_pool2d({.kernel = {9, 9}, .stride = {1, 1}})->infer(std::array{Shape{2, 8, 8}}),
      ContainsSubstring("average_pool2d: the kernel covers 9 of an input of 8"));
  CHECK_THROWS_WITH(max_pool2d({.kernel = {2, 2}})->infer(std::array{Shape{2, 2, 8, 8}}),
                    ContainsSubstring("must be an image"));
}

}  // namespace zygos::nn::test_pool2d
