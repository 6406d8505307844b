// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/gradient_check.hpp"

#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>
#include <vector>

namespace zygos::nn::test_reshape {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::check_layer_gradients;
using testing::LayerRun;
using testing::values_of;

LayerPtr reshaped(const std::vector<std::int64_t>& dimensions) { return reshape(dimensions); }

}  // namespace

TEST_CASE("A sample of another shape has the same numbers in the same order") {
  for (const std::int64_t samples : {0, 1, 3}) {
    LayerRun run(reshaped({4, -1, 2}), {Shape{6, 4}}, samples, 5);
    run.forward();
    run.backward();

    CHECK(run.output.shape() == Shape{samples, 4, 3, 2});
    CHECK(values_of(run.output) == values_of(run.inputs[0]));
    CHECK(values_of(run.d_inputs[0]) == values_of(run.d_output));
  }
}

TEST_CASE("The gradients of a reshaped layer equal difference quotients") {
  LayerRun run(reshaped({2, 9}), {Shape{3, 3, 2}}, 2, 5);

  CHECK(check_layer_gradients(run) == "");
}

TEST_CASE("One extent of a shape is inferred") {
  CHECK(reshaped({-1})->infer(std::array{Shape{3, 4}}) == Shape{12});
  CHECK(reshaped({2, -1, 3})->infer(std::array{Shape{3, 4}}) == Shape{2, 2, 3});
  CHECK(flatten()->infer(std::array{Shape{3, 4, 5}}) == Shape{60});
  CHECK(flatten()->type() == "flatten");
}

TEST_CASE("A shape that does not fit is refused with both") {
  CHECK_THROWS_WITH(
      reshaped({5, -1})->infer(std::array{Shape{3, 4}}),
      ContainsSubstring("[5, -1]") && ContainsSubstring("shape [3, 4] with 12 elements"));
  CHECK_THROWS_WITH(reshaped({5})->infer(std::array{Shape{3, 4}}), ContainsSubstring("[5]"));
  CHECK_THROWS_WITH(reshaped({-1, -1}), ContainsSubstring("one that is -1"));
  CHECK_THROWS_WITH(reshaped({0}), ContainsSubstring("positive dimensions"));
  CHECK_THROWS_WITH(reshaped({}), ContainsSubstring("allowed are 1 to 5"));
}

}  // namespace zygos::nn::test_reshape
