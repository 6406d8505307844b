// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/gradient_check.hpp"

#include "zygos/nn/layers.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>

namespace zygos::nn::test_activation {
namespace {

using testing::check_layer_gradients;
using testing::LayerRun;
using testing::random_integer;

constexpr std::array layers{Activation::relu, Activation::tanh, Activation::sigmoid,
                            Activation::gelu};

}  // namespace

TEST_CASE("Activation layers keep the shape and are called after their function") {
  const std::array<std::string_view, 4> names{"relu", "tanh", "sigmoid", "gelu"};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    CHECK(activation(layers[i])->type() == names[i]);
    CHECK(activation(layers[i])->infer(std::array{Shape{3, 4}}) == Shape{3, 4});
  }
  CHECK_THROWS_WITH(activation(Activation::none),
                    Catch::Matchers::ContainsSubstring("none is no layer"));
}

TEST_CASE("Activation layers have known values at one half") {
  const std::array<double, 4> expected{0.5, 0.46211715726000975, 0.62245933120185456,
                                       0.34573123063700660};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    LayerRun run(activation(layers[i]), {Shape{1}}, 1, 1);
    run.inputs[0].data<double>()[0] = 0.5;

    run.forward();

    CHECK(run.output.data<double>()[0] == Catch::Approx(expected[i]).epsilon(1e-14));
  }
}

TEST_CASE("The gradients of activation layers equal difference quotients") {
  for (std::uint64_t round = 0; round < 200; ++round) {
    LayerRun run(activation(layers[round % 4]),
                 {Shape{random_integer(1, 7, round, 0), random_integer(1, 5, round, 1)}},
                 random_integer(1, 6, round, 2), round);

    CAPTURE(round);
    CHECK(check_layer_gradients(run) == "");
  }
}

}  // namespace zygos::nn::test_activation
