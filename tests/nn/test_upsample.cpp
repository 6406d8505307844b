// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/gradient_check.hpp"

#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>
#include <vector>

namespace zygos::nn::test_upsample {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::check_layer_gradients;
using testing::LayerRun;
using testing::random_integer;
using testing::values_of;

std::vector<std::vector<double>> all_bits(bool bilinear, int threads) {
  LayerRun run(upsample({.factor = {2, 3}, .bilinear = bilinear}), {Shape{5, 37, 41}}, 3, 4,
               Kokkos::OpenMP(threads));
  run.forward();
  run.backward();
  return {values_of(run.output), values_of(run.d_inputs[0])};
}

}  // namespace

TEST_CASE("The gradients of an enlarged image equal difference quotients") {
  for (std::uint64_t round = 0; round < 40; ++round) {
    const UpsampleOptions options{
        .factor = {random_integer(1, 4, round, 0), random_integer(1, 4, round, 1)},
        .bilinear = round % 2 == 1};
    const Shape shape{random_integer(1, 3, round, 2), random_integer(1, 4, round, 3),
                      random_integer(1, 5, round, 4)};
    LayerRun run(upsample(options), {shape}, random_integer(1, 3, round, 5), round);

    CAPTURE(round, shape.text(), options.factor.y, options.factor.x);
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE("An enlarged image has the same bits for any number of threads") {
  for (const bool bilinear : {false, true}) {
    const auto one = all_bits(bilinear, 1);

    CHECK(all_bits(bilinear, 2) == one);
    CHECK(all_bits(bilinear, 3) == one);
    CHECK(all_bits(bilinear, 4) == one);
  }
}

TEST_CASE("Enlarging declares its shape and what it moves") {
  const std::array inputs{Shape{3, 4, 5}};
  const auto layer = upsample({.factor = {2, 3}});

  CHECK(layer->infer(inputs) == Shape{3, 8, 15});
  CHECK(layer->infer(std::array{Shape{4, 5}}) == Shape{1, 8, 15});
  CHECK(layer->parameters(inputs).empty());
  CHECK(layer->forward_cost(2, inputs, DType::f32).bytes == 4.0 * 2 * (60 + 360));
  CHECK(layer->backward_cost(2, inputs, DType::f32, false).bytes == 0.0);
}

TEST_CASE("No samples are enlarged to none") {
  LayerRun run(upsample({.factor = {2, 2}, .bilinear = true}), {Shape{3, 4, 5}}, 0, 1);

  run.forward();
  run.backward();

  CHECK(run.output.shape() == Shape{0, 3, 8, 10});
}

TEST_CASE("Enlarging refuses what it can't do") {
  CHECK_THROWS_WITH(upsample({.factor = {2, 0}}),
                    ContainsSubstring("factor is 0; it must be at least 1"));
  CHECK_THROWS_WITH(upsample({.factor = {2, (1 << 20) + 1}}),
                    ContainsSubstring("factor is 1048577; it must be at most 1048576"));
  CHECK_THROWS_WITH(upsample({.factor = {2, 2}})->infer(std::array{Shape{3}}),
                    ContainsSubstring("it must be an image"));
}

}  // namespace zygos::nn::test_upsample
