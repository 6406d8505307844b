// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/gradient_check.hpp"

#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>
#include <cmath>
#include <vector>

namespace zygos::nn::test_causal_attention {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::check_layer_gradients;
using testing::LayerRun;
using testing::random_integer;
using testing::values_of;

Shape sequence(std::int64_t length, std::int64_t heads, std::int64_t width) {
  return Shape{length, 3 * heads * width};
}

std::vector<std::vector<double>> all_bits(int threads) {
  LayerRun run(causal_attention({.heads = 2, .dropout = 0.2}), {sequence(200, 2, 24)}, 3, 4,
               Kokkos::OpenMP(threads));
  run.forward();
  run.backward();
  return {values_of(run.output), values_of(run.d_inputs[0])};
}

}  // namespace

TEST_CASE("The gradients of attention equal difference quotients") {
  for (std::uint64_t round = 0; round < 30; ++round) {
    const std::int64_t heads = random_integer(1, 3, round, 0);
    const std::int64_t width = random_integer(1, 5, round, 1);
    const std::int64_t length = random_integer(1, 9, round, 2);
    LayerRun run(causal_attention({.heads = heads, .dropout = round % 2 == 0 ? 0.0 : 0.3}),
                 {sequence(length, heads, width)}, random_integer(1, 3, round, 3), round);

    CAPTURE(round, heads, width, length);
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE("The gradients of attention over several blocks equal difference quotients") {
  LayerRun run(causal_attention({.heads = 1, .dropout = 0.1}), {sequence(131, 1, 2)}, 1, 5);

  CHECK(check_layer_gradients(run) == "");
}

TEST_CASE("No position sees a later one") {
  LayerRun run(causal_attention({.heads = 2}), {sequence(150, 2, 3)}, 1, 6);
  run.forward();
  const auto before = values_of(run.output);

  for (std::int64_t i = 70 * 18; i < 150 * 18; ++i) {
    run.inputs[0].data<double>()[i] += 1.0;
  }
  run.forward();
  const auto after = values_of(run.output);

  CHECK(std::vector(before.begin(), before.begin() + 70 * 6) ==
        std::vector(after.begin(), after.begin() + 70 * 6));
  CHECK(std::abs(before[70 * 6] - after[70 * 6]) > 1e-3);
}

TEST_CASE(
    "Dropped weights are those of the seed, the step and the sample, and none in evaluation") {
  LayerRun run(causal_attention({.heads = 1, .dropout = 0.5}), {sequence(9, 1, 4)}, 2, 7);
  const auto output = [&] {
    run.forward();
    return values_of(run.output);
  };
  const auto first = output();

  CHECK(output() == first);
  run.step += 1;
  CHECK(output() != first);
  run.step -= 1;
  run.layer_index += 1;
  CHECK(output() != first);
  run.mode = Mode::evaluate;
  const auto whole = output();
  LayerRun plain(causal_attention({.heads = 1}), {sequence(9, 1, 4)}, 2, 7);
  plain.forward();
  CHECK(whole == values_of(plain.output));
}

TEST_CASE("Attention has the same bits for any number of threads") {
  const auto one = all_bits(1);

  CHECK(all_bits(2) == one);
  CHECK(all_bits(3) == one);
  CHECK(all_bits(4) == one);
}

TEST_CASE("Attention declares what it needs") {
  const std::array inputs{Shape{10, 48}};
  const auto layer = causal_attention({.heads = 4});

  CHECK(layer->infer(inputs) == Shape{10, 16});
  CHECK(layer->parameters(inputs).empty());
  CHECK(layer->workspace(3, inputs, DType::f32)[0].shape == Shape{3, 4, 10});
  CHECK(layer->workspace(3, inputs, DType::f32)[0].kept);
  CHECK_FALSE(layer->workspace(3, inputs, DType::f32)[1].kept);
  CHECK(layer->forward_cost(2, inputs, DType::f32).flops == 2.0 * 2 * 2 * 55 * 16);
  CHECK(layer->forward_cost(2, inputs, DType::f32).bytes == 4.0 * 2 * 10 * 64);
}

TEST_CASE("Attention refuses what it can't do") {
  CHECK_THROWS_WITH(causal_attention({.heads = 0}), ContainsSubstring("heads is 0"));
  CHECK_THROWS_WITH(causal_attention({.heads = 1, .dropout = 1.0}),
                    ContainsSubstring("dropout is 1"));
  CHECK_THROWS_WITH(causal_attention({.heads = 4})->infer(std::array{Shape{10, 18}}),
                    ContainsSubstring("[length, 3 x 4 heads x width]"));
  CHECK_THROWS_WITH(causal_attention({})->infer(std::array{Shape{30}}),
                    ContainsSubstring("queries, keys and values"));
  CHECK_THROWS_WITH(
      causal_attention({.heads = 16, .dropout = 0.1})->infer(std::array{Shape{40'000, 48}}),
      ContainsSubstring("2^34 weights"));
}

}  // namespace zygos::nn::test_causal_attention
