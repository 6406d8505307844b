// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/gradient_check.hpp"

#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>
#include <cmath>
#include <vector>

namespace zygos::nn::test_dense {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::check_layer_gradients;
using testing::LayerRun;
using testing::random_integer;
using testing::values_of;

constexpr std::array fusable{Activation::none, Activation::relu, Activation::tanh,
                             Activation::sigmoid};

void assign(const Tensor& tensor, const std::vector<double>& values) {
  REQUIRE(tensor.size() == static_cast<std::int64_t>(values.size()));
  std::copy(values.begin(), values.end(), tensor.data<double>());
}

}  // namespace

TEST_CASE("A dense layer computes f(x W + b) and its gradients as a pencil does") {
  LayerRun run(dense({.units = 2, .bias = true, .activation = Activation::relu}), {Shape{3}}, 2, 1);
  assign(run.inputs[0], {1, 2, 3, -1, 0, 1});
  assign(run.parameters[0], {1, 0, 0, 1, 1, -1});
  assign(run.parameters[1], {0.5, -2});
  assign(run.d_output, {1, 10, 100, 1000});

  run.forward();
  run.backward();

  // x W + b = (4.5, -3), (0.5, -3): the second column is cut off.
  CHECK(values_of(run.output) == std::vector<double>{4.5, 0, 0.5, 0});
  CHECK(values_of(run.d_parameters[0]) == std::vector<double>{-99, 0, 2, 0, 103, 0});
  CHECK(values_of(run.d_parameters[1]) == std::vector<double>{101, 0});
  CHECK(values_of(run.d_inputs[0]) == std::vector<double>{1, 0, 1, 100, 0, 100});
}

TEST_CASE("The gradients of a dense layer equal difference quotients") {
  for (std::uint64_t round = 0; round < 52; ++round) {
    const DenseOptions options{.units = random_integer(1, 12, round, 0),
                               .bias = round % 3 != 0,
                               .activation = fusable[round % fusable.size()]};
    const std::int64_t batch = random_integer(1, 9, round, 1);
    const std::int64_t width = random_integer(1, 15, round, 2);
    LayerRun run(dense(options), {Shape{width}}, batch, round);

    CAPTURE(round, options.units, batch, width);
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE("A dense layer flattens its input") {
  LayerRun run(dense({.units = 4}), {Shape{2, 3, 5}}, 3, 8);

  CHECK(dense({.units = 4})->infer(std::array{Shape{2, 3, 5}}) == Shape{4});
  CHECK(run.parameters[0].shape() == Shape{30, 4});
  CHECK(check_layer_gradients(run) == "");
}

TEST_CASE("A dense layer that does not flatten multiplies every vector by the same weights") {
  const DenseOptions options{.units = 2, .flatten = false, .activation = Activation::relu};
  LayerRun run(dense(options), {Shape{2, 3}}, 2, 1);
  assign(run.inputs[0], {1, 2, 3, -1, 0, 1, 0, 0, 0, 1, 2, 3});
  assign(run.parameters[0], {1, 0, 0, 1, 1, -1});
  assign(run.parameters[1], {0.5, -2});
  assign(run.d_output, {1, 10, 100, 1000, 0, 0, 2, 20});

  run.forward();
  run.backward();

  CHECK(run.output.shape() == Shape{2, 2, 2});
  CHECK(values_of(run.output) == std::vector<double>{4.5, 0, 0.5, 0, 0.5, 0, 4.5, 0});
  CHECK(values_of(run.d_parameters[0]) == std::vector<double>{-97, 0, 6, 0, 109, 0});
  CHECK(values_of(run.d_parameters[1]) == std::vector<double>{103, 0});
  CHECK(values_of(run.d_inputs[0]) == std::vector<double>{1, 0, 1, 100, 0, 100, 0, 0, 0, 2, 0, 2});
}

TEST_CASE("The gradients of a dense layer on sequences equal difference quotients") {
  for (std::uint64_t round = 0; round < 24; ++round) {
    const DenseOptions options{.units = random_integer(1, 7, round, 0),
                               .bias = round % 3 != 0,
                               .flatten = false,
                               .activation = fusable[round % fusable.size()]};
    const std::int64_t width = random_integer(1, 9, round, 2);
    const Shape shape = round % 2 == 0 ? Shape{random_integer(1, 5, round, 3), width}
                                       : Shape{2, random_integer(1, 3, round, 3), width};
    LayerRun run(dense(options), {shape}, random_integer(1, 4, round, 1), round);

    CAPTURE(round, options.units, shape.text());
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE("A first dense layer leaves out the gradient of its input") {
  LayerRun run(dense({.units = 4, .activation = Activation::tanh}), {Shape{6}}, 3, 8);
  run.forward();
  run.backward();
  const auto expected = values_of(run.d_parameters[0]);
  run.d_inputs[0] = Tensor();

  run.backward();

  CHECK(values_of(run.d_parameters[0]) == expected);
}

TEST_CASE("A dense layer has the same bits for any number of threads") {
  const auto bits = [](int threads) {
    LayerRun run(dense({.units = 130, .activation = Activation::tanh}), {Shape{300}}, 77, 4,
                 Kokkos::OpenMP(threads));
    run.forward();
    run.backward();
    return std::vector{values_of(run.output), values_of(run.d_inputs[0]),
                       values_of(run.d_parameters[0]), values_of(run.d_parameters[1])};
  };
  const auto one = bits(1);

  CHECK(bits(2) == one);
  CHECK(bits(3) == one);
  CHECK(bits(4) == one);
}

TEST_CASE("A dense layer declares what it needs") {
  const auto layer = dense({.units = 128, .activation = Activation::relu});
  const std::array inputs{Shape{28, 28}};
  const auto parameters = layer->parameters(inputs);

  REQUIRE(parameters.size() == 2);
  CHECK(parameters[0].name == "kernel");
  CHECK(parameters[0].shape == Shape{784, 128});
  CHECK(parameters[0].decay);
  CHECK(parameters[0].init.kind == Initialiser::Kind::uniform);
  CHECK(parameters[0].init.scale == 1.0 / 28.0);
  CHECK(parameters[1].shape == Shape{128});
  CHECK_FALSE(parameters[1].decay);
  CHECK(layer->workspace(100, inputs, DType::f32).size() == 1);
  const auto rows = dense({.units = 8, .flatten = false, .activation = Activation::relu});
  CHECK(rows->infer(inputs) == Shape{28, 8});
  CHECK(rows->parameters(inputs)[0].shape == Shape{28, 8});
  CHECK(rows->workspace(5, inputs, DType::f32)[0].shape == Shape{5, 28, 8});
  CHECK(rows->forward_cost(5, inputs, DType::f32).flops == 2.0 * 5 * 28 * 28 * 8);
  CHECK(dense({.units = 10})->workspace(100, inputs, DType::f32).empty());
  CHECK(dense({.units = 10, .bias = false})->parameters(inputs).size() == 1);
  const double product = 2.0 * 100 * 784 * 128;
  CHECK(layer->forward_cost(100, inputs, DType::f32).flops == product);
  CHECK(layer->forward_cost(100, inputs, DType::f32).bytes ==
        4.0 * (100 * 784 + 784 * 128 + 100 * 128));
  CHECK(layer->backward_cost(100, inputs, DType::f32, false).flops == product);
  CHECK(layer->backward_cost(100, inputs, DType::f32, true).flops == 2.0 * product);
}

TEST_CASE("A dense layer refuses what it can't do") {
  CHECK_THROWS_WITH(dense({.units = 0}), ContainsSubstring("units is 0"));
  CHECK_THROWS_WITH(dense({.units = 4, .activation = Activation::gelu}),
                    ContainsSubstring("put a gelu layer behind"));
  CHECK_THROWS_WITH(dense({.units = 4})->infer(std::array{Shape{3}, Shape{4}}),
                    ContainsSubstring("takes one input, got 2"));
  CHECK_THROWS_WITH(dense({.units = 4})->infer(std::array{Shape{3, 0}}),
                    ContainsSubstring("has no features"));
}

}  // namespace zygos::nn::test_dense
