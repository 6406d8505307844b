// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The layers that join others: add and concat.
#include "support/gradient_check.hpp"

#include "zygos/core/error.hpp"
#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <vector>

namespace zygos::nn {

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

TEST_CASE("Samples are joined one by one, in the order of the inputs") {
  LayerRun run(concat(), {Shape{1, 2}, Shape{2, 2}}, 2, 1);
  assign(run.inputs[0], {1, 2, 3, 4});
  assign(run.inputs[1], {5, 6, 7, 8, 9, 10, 11, 12});

  run.forward();

  CHECK(run.output.shape() == Shape{2, 3, 2});
  CHECK(values_of(run.output) == std::vector<double>{1, 2, 5, 6, 7, 8, 3, 4, 9, 10, 11, 12});
}

TEST_CASE("The gradients of a sum equal difference quotients") {
  for (std::uint64_t round = 0; round < 50; ++round) {
    const Shape shape{random_integer(1, 9, round, 0), random_integer(1, 4, round, 1)};
    const std::vector<Shape> shapes(static_cast<std::size_t>(random_integer(2, 4, round, 2)),
                                    shape);
    LayerRun run(add(), shapes, random_integer(1, 5, round, 3), round);

    CAPTURE(round);
    CHECK(check_layer_gradients(run) == "");
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

TEST_CASE("Inputs that don't fit together are refused with both shapes") {
  CHECK_THROWS_WITH(add()->infer(std::vector{Shape{3}, Shape{4}}),
                    ContainsSubstring("[3] and [4]") && ContainsSubstring("same"));
  CHECK_THROWS_WITH(concat()->infer(std::vector{Shape{3, 2}, Shape{3, 4}}),
                    ContainsSubstring("[3, 2] and [3, 4]"));
  CHECK_THROWS_WITH(concat()->infer(std::vector{Shape{3}, Shape{3, 4}}),
                    ContainsSubstring("first extent"));
  CHECK_THROWS_WITH(add()->infer(std::vector{Shape{3}}), ContainsSubstring("two or more inputs"));
  CHECK_THROWS_WITH(concat()->infer({}), ContainsSubstring("got 0"));
}

}  // namespace zygos::nn
