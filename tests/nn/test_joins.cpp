// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The layers that join others: add and concat.
#include "support/gradient_check.hpp"

#include "zygos/core/error.hpp"
#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace zygos::nn::test_joins {

using Catch::Matchers::ContainsSubstring;
using testing::check_layer_gradients;
using testing::LayerRun;
using testing::random_integer;
using testing::values_of;

namespace {

void assign(const Tensor& tensor, const std::vector<double>& values) {
  std::ranges::copy(values, tensor.data<double>());
}

}  // namespace

TEST_CASE("Three inputs are added element by element") {
  LayerRun run(add(), {Shape{2}, Shape{2}, Shape{2}}, 1, 1);
  assign(run.inputs[0], {1.0, 2.0});
  assign(run.inputs[1], {10.0, 20.0});
  assign(run.inputs[2], {100.0, 200.0});

  run.forward();

  CHECK(values_of(run.output) == std::vector<double>{111.0, 222.0});
}

TEST_CASE("A sum that drops has the bits of a dropout layer at its place and a sum behind it") {
  const Shape shape{31, 7};
  for (const std::size_t count : {2U, 3U}) {
    LayerRun fused(add({.dropout = 0.3}), std::vector<Shape>(count, shape), 5, 1,
                   Kokkos::OpenMP(3));
    LayerRun drop(dropout(0.3), {shape}, 5, 1);
    LayerRun sum(add(), std::vector<Shape>(count, shape), 5, 1);
    assign(drop.inputs[0], values_of(fused.inputs[0]));
    assign(drop.d_output, values_of(fused.d_output));
    drop.forward();
    drop.backward();
    assign(sum.inputs[0], values_of(drop.output));
    sum.forward();

    fused.forward();
    fused.backward();

    CHECK(values_of(fused.output) == values_of(sum.output));
    CHECK(values_of(fused.d_inputs[0]) == values_of(drop.d_inputs[0]));
    CHECK(values_of(fused.d_inputs[0]) != values_of(fused.d_output));
    for (std::size_t i = 1; i < count; ++i) {
      CHECK(values_of(fused.d_inputs[i]) == values_of(fused.d_output));
    }
  }
}

TEST_CASE("A sum drops half of its first input, scales the rest, and adds the others as they are") {
  LayerRun run(add({.dropout = 0.5}), {Shape{40}, Shape{40}}, 20, 1);
  assign(run.inputs[0], std::vector<double>(800, 1.0));
  assign(run.inputs[1], std::vector<double>(800, 10.0));

  run.forward();

  const auto y = values_of(run.output);
  const auto dropped = std::ranges::count(y, 10.0);
  CHECK(dropped + std::ranges::count(y, 12.0) == 800);
  CHECK(std::abs(static_cast<double>(dropped) - 400.0) < 71.0);  // five standard deviations
}

TEST_CASE("A sum that drops is a plain sum when evaluating and at a rate of zero") {
  LayerRun plain(add(), {Shape{31}, Shape{31}}, 20, 3);
  LayerRun evaluating(add({.dropout = 0.5}), {Shape{31}, Shape{31}}, 20, 3);
  LayerRun at_zero(add({.dropout = 0.0}), {Shape{31}, Shape{31}}, 20, 3);
  evaluating.mode = Mode::evaluate;

  plain.forward();
  evaluating.forward();
  at_zero.forward();
  at_zero.backward();

  CHECK(values_of(evaluating.output) == values_of(plain.output));
  CHECK(values_of(at_zero.output) == values_of(plain.output));
  CHECK(values_of(at_zero.d_inputs[0]) == values_of(at_zero.d_output));
}

TEST_CASE("A sum that drops gives gradients only where they are wanted") {
  LayerRun run(add({.dropout = 0.5}), {Shape{31}, Shape{31}}, 20, 3);
  LayerRun second_only(add({.dropout = 0.5}), {Shape{31}, Shape{31}}, 20, 3);
  second_only.d_inputs[0] = Tensor();
  run.backward();
  second_only.backward();

  CHECK(values_of(second_only.d_inputs[1]) == values_of(run.d_inputs[1]));
}

TEST_CASE("What a sum that drops costs has the random numbers and no pass more") {
  const std::vector<Shape> inputs{Shape{6}, Shape{6}};
  const Cost plain = add()->forward_cost(10, inputs, DType::f32);
  const Cost drops = add({.dropout = 0.1})->forward_cost(10, inputs, DType::f32);
  const Cost alone = dropout(0.1)->forward_cost(10, std::array{Shape{6}}, DType::f32);

  CHECK(drops.bytes == plain.bytes);
  CHECK(drops.flops == plain.flops + alone.flops);
  CHECK(add({.dropout = 0.1})->backward_cost(10, inputs, DType::f32, true).flops == alone.flops);
  CHECK(add({.dropout = 0.1})->backward_cost(10, inputs, DType::f32, false).flops == 0.0);
}

TEST_CASE("A sum refuses a rate of dropout outside of [0, 1)") {
  for (const double rate : {-0.1, 1.0, 1.5, std::nan("")}) {
    CHECK_THROWS_WITH(add({.dropout = rate}), ContainsSubstring("add: dropout is") &&
                                                  ContainsSubstring("it must be in [0, 1)"));
  }
}

TEST_CASE("Samples are joined one by one, in the order of the inputs") {
  LayerRun run(concat(), {Shape{1, 2}, Shape{2, 2}}, 2, 1);
  assign(run.inputs[0], {1, 2, 3, 4});
  assign(run.inputs[1], {5, 6, 7, 8, 9, 10, 11, 12});

  run.forward();

  CHECK(run.output.shape() == Shape{2, 3, 2});
  CHECK(values_of(run.output) == std::vector<double>{1, 2, 5, 6, 7, 8, 3, 4, 9, 10, 11, 12});
}

TEST_CASE("Three inputs of different widths are joined at every position, along the last axis") {
  LayerRun run(concat({.last = true}), {Shape{2, 1}, Shape{2, 3}, Shape{2, 2}}, 2, 1);
  assign(run.inputs[0], {1, 2, 3, 4});
  assign(run.inputs[1], {10, 11, 12, 20, 21, 22, 30, 31, 32, 40, 41, 42});
  assign(run.inputs[2], {100, 101, 200, 201, 300, 301, 400, 401});

  run.forward();

  CHECK(run.output.shape() == Shape{2, 2, 6});
  CHECK(values_of(run.output) == std::vector<double>{1,   10,  11,  12,  100, 101, 2,   20,
                                                     21,  22,  200, 201, 3,   30,  31,  32,
                                                     300, 301, 4,   40,  41,  42,  400, 401});
}

TEST_CASE("What is joined along the last axis gets its gradient back, where it is wanted") {
  LayerRun run(concat({.last = true}), {Shape{2, 1}, Shape{2, 3}, Shape{2, 2}}, 1, 1);
  assign(run.d_output, {1, 10, 11, 12, 100, 101, 2, 20, 21, 22, 200, 201});
  run.d_inputs[1] = Tensor();

  run.backward();

  CHECK(values_of(run.d_inputs[0]) == std::vector<double>{1, 2});
  CHECK(values_of(run.d_inputs[2]) == std::vector<double>{100, 101, 200, 201});
}

TEST_CASE("Vectors joined along the last axis are those joined along the first one") {
  LayerRun first(concat(), {Shape{3}, Shape{4}}, 5, 1);
  LayerRun last(concat({.last = true}), {Shape{3}, Shape{4}}, 5, 1);
  for (const LayerRun* run : {&first, &last}) {
    run->forward();
    run->backward();
  }

  CHECK(values_of(last.output) == values_of(first.output));
  CHECK(values_of(last.d_inputs[1]) == values_of(first.d_inputs[1]));
}

TEST_CASE("No samples, positions or features are joined as well") {
  for (const bool last : {false, true}) {
    for (const Shape& shape : {Shape{0, 2}, Shape{4, 0}, Shape{4, 2}}) {
      LayerRun run(concat({.last = last}), {shape, shape}, shape.size() == 0 ? 3 : 0, 1);
      run.forward();
      run.backward();
      CHECK(run.output.size() == 0);
    }
  }
}

TEST_CASE("The gradients of a sum equal difference quotients") {
  for (std::uint64_t round = 0; round < 50; ++round) {
    const Shape shape{random_integer(1, 9, round, 0), random_integer(1, 4, round, 1)};
    const std::vector<Shape> shapes(static_cast<std::size_t>(random_integer(2, 4, round, 2)),
                                    shape);
    for (const double rate : {0.0, 0.1 + 0.8 * static_cast<double>(round) / 50.0}) {
      LayerRun run(add({.dropout = rate}), shapes, random_integer(1, 5, round, 3), round);

      CAPTURE(round, rate);
      CHECK(check_layer_gradients(run) == "");
    }
  }
}

TEST_CASE("The gradients of joined layers equal difference quotients") {
  for (std::uint64_t round = 0; round < 50; ++round) {
    const std::int64_t columns = random_integer(1, 4, round, 0);
    std::vector<Shape> shapes;
    for (std::uint32_t i = 0; i < 2 + round % 3; ++i) {
      shapes.push_back(Shape{random_integer(1, 5, round, 1 + i), columns});
    }
    LayerRun run(concat(), shapes, random_integer(1, 5, round, 9), round);

    CAPTURE(round);
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE("The gradients of layers joined along the last axis equal difference quotients") {
  for (std::uint64_t round = 0; round < 50; ++round) {
    const std::int64_t rows = random_integer(1, 4, round, 0);
    std::vector<Shape> shapes;
    for (std::uint32_t i = 0; i < 2 + round % 3; ++i) {
      const std::int64_t width = random_integer(1, 5, round, 1 + i);
      shapes.push_back(round % 4 == 0   ? Shape{width}
                       : round % 4 == 1 ? Shape{2, rows, width}
                                        : Shape{rows, width});
    }
    LayerRun run(concat({.last = true}), shapes, random_integer(1, 5, round, 9), round);

    CAPTURE(round);
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE("Inputs that don't fit together are refused with both shapes") {
  CHECK_THROWS_WITH(add()->infer(std::vector{Shape{3}, Shape{4}}),
                    ContainsSubstring("[3] and [4]") && ContainsSubstring("same"));
  CHECK_THROWS_WITH(concat()->infer(std::vector{Shape{3, 2}, Shape{3, 4}}),
                    ContainsSubstring("[3, 2] and [3, 4]"));
  CHECK_THROWS_WITH(concat()->infer(std::vector{Shape{3}, Shape{3, 4}}),
                    ContainsSubstring("first extent"));
  CHECK_THROWS_WITH(concat({.last = true})->infer(std::vector{Shape{3, 2}, Shape{4, 2}}),
                    ContainsSubstring("[3, 2] and [4, 2]; they are joined along the last extent"));
  CHECK_THROWS_WITH(concat({.last = true})->infer(std::vector{Shape{}, Shape{}}),
                    ContainsSubstring("last extent"));
  CHECK_THROWS_WITH(add()->infer(std::vector{Shape{3}}), ContainsSubstring("two or more inputs"));
  CHECK_THROWS_WITH(concat()->infer({}), ContainsSubstring("got 0"));
}

}  // namespace zygos::nn::test_joins
