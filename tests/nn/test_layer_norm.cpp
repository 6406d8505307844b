// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/gradient_check.hpp"

#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>
#include <cmath>
#include <vector>

namespace zygos::nn::test_layer_norm {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::check_layer_gradients;
using testing::LayerRun;
using testing::random_integer;
using testing::values_of;

std::vector<std::vector<double>> all_bits(int threads) {
  LayerRun run(layer_norm(), {Shape{40, 96}}, 9, 4, Kokkos::OpenMP(threads));
  run.forward();
  run.backward();
  return {values_of(run.output), values_of(run.d_inputs[0]), values_of(run.d_parameters[0]),
          values_of(run.d_parameters[1])};
}

}  // namespace

TEST_CASE("The gradients of a normalised layer equal difference quotients") {
  for (std::uint64_t round = 0; round < 40; ++round) {
    const std::int64_t columns = random_integer(2, 19, round, 0);
    const Shape shape =
        round % 2 == 0 ? Shape{columns} : Shape{random_integer(1, 4, round, 1), columns};
    LayerRun run(layer_norm(0.01), {shape}, random_integer(1, 4, round, 2), round);

    CAPTURE(round, shape.text());
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE("Each vector along the last extent has mean zero and variance one") {
  LayerRun run(layer_norm(1e-12), {Shape{3, 50}}, 2, 7);
  std::fill_n(run.parameters[0].data<double>(), 50, 1.0);
  std::fill_n(run.parameters[1].data<double>(), 50, 0.0);
  run.forward();
  const auto y = values_of(run.output);

  for (std::size_t row = 0; row < 6; ++row) {
    double sum = 0.0, squares = 0.0;
    for (std::size_t j = 0; j < 50; ++j) {
      sum += y[row * 50 + j];
      squares += y[row * 50 + j] * y[row * 50 + j];
    }
    CHECK(std::abs(sum) < 1e-12);
    CHECK(std::abs(squares - 50.0) < 1e-8);
  }
}

TEST_CASE("A normalised layer has the same bits for any number of threads") {
  const auto one = all_bits(1);

  CHECK(all_bits(2) == one);
  CHECK(all_bits(3) == one);
  CHECK(all_bits(4) == one);
}

TEST_CASE("A normalised layer declares what it needs") {
  const std::array inputs{Shape{7, 12}};
  const auto layer = layer_norm();
  const auto parameters = layer->parameters(inputs);

  REQUIRE(parameters.size() == 2);
  CHECK(parameters[0].name == "gain");
  CHECK(parameters[0].shape == Shape{12});
  CHECK(parameters[0].init.value == 1.0);
  CHECK_FALSE(parameters[0].decay);
  CHECK(parameters[1].init.value == 0.0);
  CHECK(layer->workspace(5, inputs, DType::f32)[0].shape == Shape{35, 2});
  CHECK(layer->workspace(5, inputs, DType::f32)[0].kept);
  CHECK(layer->forward_cost(5, inputs, DType::f32).bytes == 2.0 * 4 * 5 * 84);
}

TEST_CASE("A normalised layer refuses what it can't do") {
  CHECK_THROWS_WITH(layer_norm(0.0), ContainsSubstring("epsilon is 0"));
  CHECK_THROWS_WITH(layer_norm()->infer(std::array{Shape{3, 0}}),
                    ContainsSubstring("has no last extent"));
}

}  // namespace zygos::nn::test_layer_norm
