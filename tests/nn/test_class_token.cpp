// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The class token, and the layer that takes one position of a sequence.
#include "support/gradient_check.hpp"

#include "zygos/core/error.hpp"
#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace zygos::nn::test_class_token {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::check_layer_gradients;
using testing::LayerRun;
using testing::random_integer;
using testing::values_of;
using Numbers = std::vector<double>;

void set_values(const Tensor& tensor, const Numbers& values) {
  REQUIRE(std::ssize(values) == tensor.size());
  std::ranges::copy(values, tensor.data<double>());
}

}  // namespace

TEST_CASE("A class token stands in front of every sequence of a batch") {
  LayerRun run(class_token(), {Shape{2, 2}}, 2, 1);
  set_values(run.inputs[0], {1, 2, 3, 4, 5, 6, 7, 8});
  set_values(run.parameters[0], {10, 20});

  run.forward();

  CHECK(run.output.shape() == Shape{2, 3, 2});
  CHECK(values_of(run.output) == Numbers{10, 20, 1, 2, 3, 4, 10, 20, 5, 6, 7, 8});
}

TEST_CASE("The gradient of a class token is the sum over samples, and earlier ones stay") {
  LayerRun run(class_token(), {Shape{1, 2}}, 3, 1);
  set_values(run.d_output, {1, 2, 3, 4, 10, 20, 30, 40, 100, 200, 300, 400});

  run.backward();

  CHECK(values_of(run.d_parameters[0]) == Numbers{111, 222});
  CHECK(values_of(run.d_inputs[0]) == Numbers{3, 4, 30, 40, 300, 400});
  run.accumulates = true;
  run.backward();
  CHECK(values_of(run.d_parameters[0]) == Numbers{222, 444});
  CHECK(values_of(run.d_inputs[0]) == Numbers{3, 4, 30, 40, 300, 400});
}

TEST_CASE("A class token whose input needs no gradient has its own") {
  LayerRun run(class_token(), {Shape{5, 7}}, 3, 1);
  LayerRun alone(class_token(), {Shape{5, 7}}, 3, 1);
  alone.d_inputs[0] = Tensor();

  run.backward();
  alone.backward();

  CHECK(values_of(alone.d_parameters[0]) == values_of(run.d_parameters[0]));
}

TEST_CASE("The gradients of a class token equal difference quotients") {
  for (std::uint64_t round = 0; round < 50; ++round) {
    const Shape shape{random_integer(1, 7, round, 0), random_integer(1, 9, round, 1)};
    LayerRun run(class_token(), {shape}, random_integer(1, 5, round, 2), round);

    CAPTURE(round, shape.text());
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE("A class token and a selection have the same bits for any number of threads") {
  const auto bits = [](int threads) {
    LayerRun token(class_token(), {Shape{130, 96}}, 37, 3, Kokkos::OpenMP(threads));
    LayerRun last(select(-1), {Shape{130, 96}}, 37, 3, Kokkos::OpenMP(threads));
    for (const LayerRun* run : {&token, &last}) {
      run->forward();
      run->backward();
    }
    return std::vector{values_of(token.output), values_of(token.d_inputs[0]),
                       values_of(token.d_parameters[0]), values_of(last.output),
                       values_of(last.d_inputs[0])};
  };
  const auto one = bits(1);

  CHECK(bits(2) == one);
  CHECK(bits(3) == one);
  CHECK(bits(4) == one);
}

TEST_CASE("A selection copies one position, counted from the front or from the end") {
  const Numbers sequence{1, 2, 3, 4, 5, 6};
  for (const auto& [index, expected] : std::vector<std::pair<std::int64_t, Numbers>>{
           {0, {1, 2}}, {1, {3, 4}}, {-3, {1, 2}}, {2, {5, 6}}, {-1, {5, 6}}}) {
    LayerRun run(select(index), {Shape{3, 2}}, 2, 1);
    Numbers both = sequence;
    both.insert(both.end(), {11, 12, 13, 14, 15, 16});
    set_values(run.inputs[0], both);

    run.forward();

    CAPTURE(index);
    CHECK(run.output.shape() == Shape{2, 2});
    CHECK(values_of(run.output) ==
          Numbers{expected[0], expected[1], expected[0] + 10, expected[1] + 10});
  }
}

TEST_CASE("The gradient of a selection is zero at all other positions") {
  LayerRun run(select(1), {Shape{3, 2}}, 2, 1);
  set_values(run.d_output, {1, 2, 3, 4});

  run.backward();

  CHECK(values_of(run.d_inputs[0]) == Numbers{0, 0, 1, 2, 0, 0, 0, 0, 3, 4, 0, 0});
}

TEST_CASE("The gradients of a selection equal difference quotients") {
  for (std::uint64_t round = 0; round < 50; ++round) {
    const std::int64_t length = random_integer(1, 6, round, 0);
    const std::int64_t width = random_integer(1, 5, round, 1);
    const Shape shape = round % 3 == 0 ? Shape{length, width, 2} : Shape{length, width};
    const std::int64_t index = random_integer(-length, length - 1, round, 2);
    LayerRun run(select(index), {shape}, random_integer(1, 5, round, 3), round);

    CAPTURE(round, shape.text(), index);
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE("A class token and a selection of no samples write gradients of zero and nothing else") {
  LayerRun token(class_token(), {Shape{3, 2}}, 0, 1);
  LayerRun first(select(0), {Shape{3, 2}}, 0, 1);
  for (const LayerRun* run : {&token, &first}) {
    run->forward();
    run->backward();
  }

  CHECK(token.output.shape() == Shape{0, 4, 2});
  CHECK(values_of(token.d_parameters[0]) == Numbers{0, 0});
  CHECK(first.output.shape() == Shape{0, 2});
}

TEST_CASE("A class token and a selection declare what they need") {
  const std::array inputs{Shape{16, 48}};
  const auto layer = class_token();
  const auto parameters = layer->parameters(inputs);

  REQUIRE(parameters.size() == 1);
  CHECK(parameters[0].name == "token");
  CHECK(parameters[0].shape == Shape{48});
  CHECK(parameters[0].decay);
  CHECK(layer->infer(inputs) == Shape{17, 48});
  CHECK(layer->torch_tensors(inputs)[0].name == "cls_token");
  CHECK(layer->torch_tensors(inputs)[0].shape == Shape{1, 1, 48});
  CHECK(layer->forward_cost(5, inputs, DType::f32).bytes == 4.0 * 5 * (16 + 17) * 48);
  CHECK(layer->backward_cost(5, inputs, DType::f32, true).bytes == 4.0 * 5 * (2 * 16 + 1) * 48);
  CHECK(layer->backward_cost(5, inputs, DType::f32, false).bytes == 4.0 * 5 * 48);
  CHECK(select(3)->parameters(inputs).empty());
  CHECK(select(3)->infer(std::array{Shape{4, 5, 6}}) == Shape{5, 6});
  CHECK(select(3)->forward_cost(5, inputs, DType::f64).bytes == 8.0 * 5 * 2 * 48);
  CHECK(select(3)->backward_cost(5, inputs, DType::f64, true).bytes == 8.0 * 5 * (16 + 1) * 48);
  CHECK(select(3)->backward_cost(5, inputs, DType::f64, false).bytes == 0.0);
}

TEST_CASE("A class token and a selection refuse what they can't do") {
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  CHECK_THROWS_WITH(class_token()->infer(std::array{Shape{5}}),
                    ContainsSubstring("class_token: the input of shape [5] is no sequence"));
  CHECK_THROWS_WITH(class_token()->infer(std::array{Shape{5, 4, 4}}),
                    ContainsSubstring("`transpose` makes one of an image"));
  CHECK_THROWS_WITH(select(0)->infer(std::array{Shape{5}}),
                    ContainsSubstring("[5] has no positions to take one of"));
  for (const std::int64_t index : {std::int64_t{4}, std::int64_t{-5}, least}) {
    CHECK_THROWS_WITH(
        select(index)->infer(std::array{Shape{4, 8}}),
        ContainsSubstring("select: index is " + std::to_string(index) +
                          ", but the input of shape [4, 8] has 4 positions; it must be 0 to 3, or "
                          "-4 to -1 from the end"));
  }
  CHECK_THROWS_WITH(select(0)->infer(std::array{Shape{0, 8}}),
                    ContainsSubstring("the input of shape [0, 8] has 0 positions"));
}

}  // namespace zygos::nn::test_class_token
