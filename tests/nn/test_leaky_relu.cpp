// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/gradient_check.hpp"

#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <vector>

namespace zygos::nn::test_leaky_relu {

using testing::check_layer_gradients;
using testing::LayerRun;
using testing::random_integer;
using testing::values_of;

TEST_CASE("A leaky ReLU lets a share of negative numbers through") {
  LayerRun run(leaky_relu(0.25), {Shape{2}}, 1, 1);
  run.inputs[0].data<double>()[0] = -4.0;
  run.inputs[0].data<double>()[1] = 3.0;

  run.forward();

  CHECK(values_of(run.output) == std::vector<double>{-1.0, 3.0});
}

TEST_CASE("The gradients of a leaky ReLU equal difference quotients") {
  for (std::uint64_t round = 0; round < 50; ++round) {
    LayerRun run(leaky_relu(0.1), {Shape{random_integer(1, 19, round, 0)}},
                 random_integer(1, 6, round, 1), round);

    CAPTURE(round);
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE("A leaky ReLU refuses a slope outside [0, 1)") {
  CHECK_THROWS_WITH(leaky_relu(1.0), Catch::Matchers::ContainsSubstring("slope is 1"));
  CHECK_THROWS_WITH(leaky_relu(-0.5), Catch::Matchers::ContainsSubstring("slope is -0.5"));
}

}  // namespace zygos::nn::test_leaky_relu
