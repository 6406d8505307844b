// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/gradient_check.hpp"

#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace zygos::nn::test_dropout {
namespace {

using testing::check_layer_gradients;
using testing::LayerRun;
using testing::random_integer;
using testing::values_of;

}  // namespace

TEST_CASE("The gradients of a dropout layer equal difference quotients") {
  for (std::uint64_t round = 0; round < 50; ++round) {
    LayerRun run(dropout(0.1 * static_cast<double>(round % 10)),
                 {Shape{random_integer(1, 19, round, 0)}}, random_integer(1, 6, round, 1), round);

    CAPTURE(round);
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE("Dropout drops the same features forwards and backwards") {
  LayerRun run(dropout(0.5), {Shape{31, 7}}, 20, 3);
  std::fill_n(run.inputs[0].data<double>(), run.inputs[0].size(), 1.0);
  std::fill_n(run.d_output.data<double>(), run.d_output.size(), 1.0);

  run.forward();
  run.backward();

  CHECK(values_of(run.d_inputs[0]) == values_of(run.output));
  const auto y = values_of(run.output);
  CHECK(std::all_of(y.begin(), y.end(), [](double v) { return v == 0.0 || v == 2.0; }));
}

TEST_CASE("Dropout passes everything through when evaluating") {
  LayerRun run(dropout(0.5), {Shape{31}}, 20, 3);
  run.mode = Mode::evaluate;

  run.forward();

  CHECK(values_of(run.output) == values_of(run.inputs[0]));
}

TEST_CASE("Dropout draws a new mask at every step and in every layer, the same in every lane") {
  LayerRun run(dropout(0.5), {Shape{50}}, 20, 3);
  LayerRun other(dropout(0.5), {Shape{50}}, 20, 3, Kokkos::OpenMP(3));
  run.forward();
  other.forward();
  const auto first = values_of(run.output);
  CHECK(values_of(other.output) == first);

  run.step = 6;
  run.forward();
  CHECK(values_of(run.output) != first);

  run.step = 5;
  run.layer_index = 2;
  run.forward();
  CHECK(values_of(run.output) != first);
}

TEST_CASE("Dropout refuses a rate outside [0, 1)") {
  for (const double rate : {-0.1, 1.0, 1.5, std::nan("")}) {
    CHECK_THROWS_WITH(dropout(rate), Catch::Matchers::ContainsSubstring("it must be in [0, 1)"));
  }
}

}  // namespace zygos::nn::test_dropout
