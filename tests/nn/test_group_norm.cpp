// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/gradient_check.hpp"

#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace zygos::nn::test_group_norm {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::check_layer_gradients;
using testing::LayerRun;
using testing::random_integer;
using testing::values_of;

std::vector<std::vector<double>> all_bits(int threads) {
  LayerRun run(group_norm(3), {Shape{12, 7, 9}}, 9, 4, Kokkos::OpenMP(threads));
  run.forward();
  run.backward();
  return {values_of(run.output), values_of(run.d_inputs[0]), values_of(run.d_parameters[0]),
          values_of(run.d_parameters[1])};
}

void set_parameters(LayerRun& run, double gain, double shift) {
  const auto count = run.parameters[0].shape().size();
  std::fill_n(run.parameters[0].data<double>(), count, gain);
  std::fill_n(run.parameters[1].data<double>(), count, shift);
}

}  // namespace

TEST_CASE("The gradients of a group normalisation equal difference quotients") {
  for (std::uint64_t round = 0; round < 60; ++round) {
    const std::int64_t groups = random_integer(1, 3, round, 0);
    const std::int64_t channels = groups * random_integer(1, 3, round, 1);
    const std::int64_t height = random_integer(1, 4, round, 2);
    const Shape shape = round % 3 == 0 ? Shape{channels + groups} : Shape{channels, height, 3};
    LayerRun run(group_norm(groups, 0.01), {shape}, random_integer(1, 4, round, 3), round);

    CAPTURE(round, groups, shape.text());
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE("Each group of channels of a sample has mean zero and variance one") {
  LayerRun run(group_norm(2, 1e-12), {Shape{4, 5, 5}}, 3, 7);
  set_parameters(run, 1.0, 0.0);
  run.forward();
  const auto y = values_of(run.output);

  for (std::size_t group = 0; group < 6; ++group) {
    double sum = 0.0, squares = 0.0;
    for (std::size_t i = 0; i < 50; ++i) {
      sum += y[group * 50 + i];
      squares += y[group * 50 + i] * y[group * 50 + i];
    }
    CHECK(std::abs(sum) < 1e-12);
    CHECK(std::abs(squares - 50.0) < 1e-8);
  }
}

TEST_CASE("Group normalisation of one group of vectors is layer normalisation") {
  LayerRun groups(group_norm(1), {Shape{24}}, 5, 3);
  LayerRun layers(layer_norm(), {Shape{24}}, 5, 3);
  set_parameters(groups, 1.5, -0.25);
  set_parameters(layers, 1.5, -0.25);
  groups.forward();
  layers.forward();
  const auto one = values_of(groups.output);
  const auto other = values_of(layers.output);

  REQUIRE(one.size() == other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    CHECK(std::abs(one[i] - other[i]) < 1e-13);
  }
}

TEST_CASE("A group normalisation has the same bits for any number of threads") {
  const auto one = all_bits(1);

  CHECK(all_bits(2) == one);
  CHECK(all_bits(3) == one);
  CHECK(all_bits(4) == one);
}

TEST_CASE("A group normalisation declares what it needs") {
  const std::array inputs{Shape{6, 7, 2}};
  const auto layer = group_norm(3);
  const auto parameters = layer->parameters(inputs);

  REQUIRE(parameters.size() == 2);
  CHECK(parameters[0].name == "gain");
  CHECK(parameters[0].shape == Shape{6});
  CHECK(parameters[0].init.value == 1.0);
  CHECK_FALSE(parameters[0].decay);
  CHECK(parameters[1].name == "shift");
  CHECK(parameters[1].init.value == 0.0);
  CHECK(layer->infer(inputs) == inputs[0]);
  CHECK(layer->workspace(5, inputs, DType::f32)[0].shape == Shape{5, 3, 2});
  CHECK(layer->workspace(5, inputs, DType::f32)[0].kept);
  CHECK(layer->forward_cost(5, inputs, DType::f32).bytes == 2.0 * 4 * 5 * 84);
}

TEST_CASE("A group normalisation refuses what it can't do") {
  CHECK_THROWS_WITH(group_norm(2, 0.0), ContainsSubstring("epsilon is 0"));
  CHECK_THROWS_WITH(group_norm(0), ContainsSubstring("groups is 0; it must be at least 1"));
  CHECK_THROWS_WITH(group_norm(4)->infer(std::array{Shape{6, 3, 3}}),
                    ContainsSubstring("6 channels don't make 4 equal groups"));
  CHECK_THROWS_WITH(group_norm(2)->infer(std::array{Shape{0, 3, 3}}),
                    ContainsSubstring("has no channels"));
}

}  // namespace zygos::nn::test_group_norm
