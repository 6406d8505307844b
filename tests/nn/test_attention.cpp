// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention without a mask. tests/nn/test_causal_attention.cpp has what both have in common.
#include "support/gradient_check.hpp"

#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace zygos::nn::test_attention {
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
  LayerRun run(attention({.heads = 2, .dropout = 0.2}), {sequence(200, 2, 24)}, 3, 4,
               Kokkos::OpenMP(threads));
  run.forward();
  run.backward();
  return {values_of(run.output), values_of(run.d_inputs[0])};
}

/// The largest difference between two lists of positions, the second from its end.
double difference_of_reversed(const std::vector<double>& values,
                              const std::vector<double>& reversed, std::size_t width) {
  double largest = 0.0;
  const std::size_t length = values.size() / width;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t from = (length - 1 - i / width) * width + i % width;
    largest = std::max(largest, std::abs(values[i] - reversed[from]));
  }
  return largest;
}

}  // namespace

TEST_CASE("The gradients of attention without a mask equal difference quotients") {
  for (std::uint64_t round = 0; round < 30; ++round) {
    const std::int64_t heads = random_integer(1, 3, round, 0);
    const std::int64_t width = random_integer(1, 5, round, 1);
    const std::int64_t length = random_integer(1, 9, round, 2);
    LayerRun run(attention({.heads = heads, .dropout = round % 2 == 0 ? 0.0 : 0.3}),
                 {sequence(length, heads, width)}, random_integer(1, 3, round, 3), round);

    CAPTURE(round, heads, width, length);
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE(
    "The gradients of attention without a mask over several blocks equal difference "
    "quotients") {
  LayerRun run(attention({.heads = 1, .dropout = 0.1}), {sequence(131, 1, 2)}, 1, 5);

  CHECK(check_layer_gradients(run) == "");
}

TEST_CASE("Every position sees the last one") {
  constexpr std::size_t columns = 6;
  LayerRun run(attention({.heads = 2}), {sequence(150, 2, 3)}, 1, 6);
  run.forward();
  const auto before = values_of(run.output);

  for (std::int64_t i = 149 * 18 + 12; i < 150 * 18; ++i) {
    run.inputs[0].data<double>()[i] += 100.0;  // the values of the last position
  }
  run.forward();
  const auto after = values_of(run.output);

  for (std::size_t i = 0; i < 150 * columns; i += columns) {
    CAPTURE(i);
    CHECK(std::abs(before[i] - after[i]) > 1e-3);
  }
}

TEST_CASE("Attention of a reversed sequence is reversed, where causal attention is not") {
  const auto difference = [](const LayerPtr& layer) {
    LayerRun run(layer, {sequence(150, 2, 3)}, 1, 6);
    run.forward();
    const auto output = values_of(run.output);
    double* const numbers = run.inputs[0].data<double>();
    for (std::int64_t position = 0; position < 75; ++position) {
      std::swap_ranges(numbers + position * 18, numbers + (position + 1) * 18,
                       numbers + (149 - position) * 18);
    }
    run.forward();
    return difference_of_reversed(output, values_of(run.output), 6);
  };
  CHECK(difference(attention({.heads = 2})) < 1e-12);
  CHECK(difference(causal_attention({.heads = 2})) > 1e-3);
}

TEST_CASE("Attention without a mask has the same bits for any number of threads") {
  const auto one = all_bits(1);

  CHECK(all_bits(2) == one);
  CHECK(all_bits(3) == one);
  CHECK(all_bits(4) == one);
}

TEST_CASE("Attention without a mask declares what it needs, and costs all pairs of positions") {
  const std::array inputs{Shape{10, 48}};
  const auto layer = attention({.heads = 4});

  CHECK(layer->type() == "attention");
  CHECK(layer->infer(inputs) == Shape{10, 16});
  CHECK(layer->parameters(inputs).empty());
  CHECK(layer->workspace(3, inputs, DType::f32)[0].shape == Shape{3, 4, 10});
  CHECK(layer->forward_cost(2, inputs, DType::f32).flops == 2.0 * 2 * 2 * 100 * 16);
  CHECK(layer->forward_cost(2, inputs, DType::f32).bytes == 4.0 * 2 * 10 * 64);
  CHECK(layer->backward_cost(2, inputs, DType::f32, true).flops == 7.0 * 2 * 2 * 100 * 16);
  CHECK(layer->backward_cost(2, inputs, DType::f32, false).flops == 0.0);
}

TEST_CASE("A slice of heads is attention without a mask, too") {
  const std::array inputs{Shape{10, 48}};
  const auto layer = attention({.heads = 4});

  const LayerShard shard =
      layer->shard({.kind = SliceKind::elements, .begin = 4, .end = 12, .parts = 1}, inputs);

  CHECK(shard.layer->type() == "attention");
  CHECK(shard.layer->infer(std::array{Shape{10, 24}}) == Shape{10, 8});
}

TEST_CASE("Attention without a mask names itself in what it refuses") {
  CHECK_THROWS_WITH(attention({.heads = 0}), "attention: heads is 0; it must be at least 1");
  CHECK_THROWS_WITH(attention({.heads = 1, .dropout = 1.0}), ContainsSubstring("dropout is 1"));
  CHECK_THROWS_WITH(attention({.heads = 4})->infer(std::array{Shape{10, 18}}),
                    ContainsSubstring("attention: the input of shape [10, 18]"));
  // Three times this is 2 in 64 bits.
  CHECK_THROWS_WITH(attention({.heads = 0x5555555555555556})->infer(std::array{Shape{10, 18}}),
                    ContainsSubstring("attention: the input of shape [10, 18]"));
}

}  // namespace zygos::nn::test_attention
