// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/gradient_check.hpp"

#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>
#include <vector>

namespace zygos::nn::test_lrn {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::check_layer_gradients;
using testing::LayerRun;
using testing::random_integer;
using testing::values_of;

std::vector<std::vector<double>> all_bits(int threads) {
  LayerRun run(lrn({}), {Shape{40, 13, 11}}, 9, 4, Kokkos::OpenMP(threads));
  run.forward();
  run.backward();
  return {values_of(run.output), values_of(run.d_inputs[0])};
}

}  // namespace

TEST_CASE("The gradients of a local response normalisation equal difference quotients") {
  for (std::uint64_t round = 0; round < 50; ++round) {
    const std::int64_t channels = random_integer(1, 9, round, 0);
    const Shape shape{channels, random_integer(1, 4, round, 1), random_integer(1, 4, round, 2)};
    const std::array betas{0.75, 0.5, 1.0, 0.3};
    LayerRun run(lrn({.size = 2 * random_integer(0, 3, round, 3) + 1,
                      .alpha = 0.8,
                      .beta = betas[round % 4],
                      .k = 1.5}),
                 {shape}, random_integer(1, 4, round, 4), round);

    CAPTURE(round, shape.text());
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE("A local response normalisation has the same bits for any number of threads") {
  const auto one = all_bits(1);

  CHECK(all_bits(2) == one);
  CHECK(all_bits(3) == one);
  CHECK(all_bits(4) == one);
}

TEST_CASE("A local response normalisation divides alpha by its size") {
  LayerRun run(lrn({.size = 5, .alpha = 10.0, .beta = 1.0, .k = 1.0}), {Shape{1, 1, 1}}, 1, 3);
  run.inputs[0].data<double>()[0] = 2.0;
  run.forward();

  CHECK(values_of(run.output)[0] == 2.0 / 9.0);  // 1 + 10 / 5 * 4
}

TEST_CASE("A local response normalisation declares what it needs") {
  const std::array inputs{Shape{7, 12, 3}};
  const auto layer = lrn({});

  CHECK(layer->infer(inputs) == inputs[0]);
  CHECK(layer->parameters(inputs).empty());
  CHECK(layer->workspace(5, inputs, DType::f32)[0].shape == Shape{5, 7, 12, 3});
  CHECK(layer->workspace(5, inputs, DType::f32)[0].kept);
  CHECK(layer->forward_cost(5, inputs, DType::f32).bytes == 3.0 * 4 * 5 * 252);
  CHECK(layer->backward_cost(5, inputs, DType::f32, false).flops == 0.0);
}

TEST_CASE("A local response normalisation refuses what it can't do") {
  CHECK_THROWS_WITH(lrn({.size = 4}), ContainsSubstring("size is 4"));
  CHECK_THROWS_WITH(lrn({.beta = 0.0}), ContainsSubstring("beta is 0"));
  CHECK_THROWS_WITH(lrn({.k = -1.0}), ContainsSubstring("k is -1"));
  CHECK_THROWS_WITH(lrn({.alpha = -1.0}), ContainsSubstring("alpha is -1"));
  CHECK_THROWS_WITH(lrn({})->infer(std::array{Shape{0, 3}}), ContainsSubstring("has no channels"));
}

}  // namespace zygos::nn::test_lrn
