// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/gradient_check.hpp"

#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>
#include <vector>

namespace zygos::nn::test_transpose {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::check_layer_gradients;
using testing::LayerRun;
using testing::values_of;

/// Of samples (rows, columns).
std::vector<double> transposed(const std::vector<double>& values, std::size_t rows,
                               std::size_t columns) {
  std::vector<double> out(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t within = i % (rows * columns);
    const std::size_t row = within / columns;
    const std::size_t column = within % columns;
    out[i - within + column * rows + row] = values[i];
  }
  return out;
}

}  // namespace

TEST_CASE("The channels of an image's places become vectors of a sequence, and back") {
  for (const std::int64_t samples : {0, 1, 3}) {
    LayerRun run(transpose(), {Shape{5, 3, 7}}, samples, 5);
    run.forward();
    run.backward();

    CHECK(run.output.shape() == Shape{samples, 21, 5});
    CHECK(values_of(run.output) == transposed(values_of(run.inputs[0]), 5, 21));
    CHECK(values_of(run.d_inputs[0]) == transposed(values_of(run.d_output), 21, 5));
  }
}

TEST_CASE("One channel, or one place, keeps its order") {
  for (const Shape& shape : {Shape{1, 6}, Shape{6, 1}}) {
    LayerRun run(transpose(), {shape}, 2, 5);
    run.forward();
    CHECK(values_of(run.output) == values_of(run.inputs[0]));
  }
}

TEST_CASE("The gradients of a transposed layer equal difference quotients") {
  LayerRun run(transpose(), {Shape{3, 2, 4}}, 2, 5);

  CHECK(check_layer_gradients(run) == "");
}

TEST_CASE("Transposition infers its shape, and refuses samples of one axis") {
  CHECK(transpose()->infer(std::array{Shape{64, 4, 4}}) == Shape{16, 64});
  CHECK(transpose()->infer(std::array{Shape{16, 64}}) == Shape{64, 16});
  CHECK_THROWS_WITH(transpose()->infer(std::array{Shape{12}}),
                    ContainsSubstring("transpose: the input of shape [12]"));
}

}  // namespace zygos::nn::test_transpose
