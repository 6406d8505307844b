// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/support/from_deck.hpp"
#include "support/gradient_check.hpp"

#include "zygos/nn/layers.hpp"
#include "zygos/nn/registry.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <array>
#include <string>

namespace zygos::nn::test_sigmoid_weighted {
namespace {

using testing::check_layer_gradients;
using testing::LayerRun;
using testing::random_integer;

double value_at(const LayerPtr& layer, double x) {
  LayerRun run(layer, {Shape{1}}, 1, 1);
  run.inputs[0].data<double>()[0] = x;
  run.forward();
  return run.output.data<double>()[0];
}

LayerPtr layer_of(const std::string& text) {
  const auto registry = layer_registry();
  return testing::made(registry, testing::section_of(registry, text));
}

}  // namespace

TEST_CASE("Silu and gelu's tanh form have known values") {
  // 1 / (1 + 1/e); -2 / (1 + e^2).
  CHECK(value_at(silu(), 1.0) == Catch::Approx(0.73105857863000487).epsilon(1e-14));
  CHECK(value_at(silu(), -2.0) == Catch::Approx(-0.23840584404423511).epsilon(1e-14));
  CHECK(value_at(silu(), 0.0) == 0.0);
  // (1 + tanh(0.79788456080286536 * 1.044715)) / 2.
  CHECK(value_at(gelu_tanh(), 1.0) == Catch::Approx(0.84119199060827665).epsilon(1e-14));
  CHECK(value_at(gelu_tanh(), -2.0) == Catch::Approx(-0.04540230591222498).epsilon(1e-13));
  CHECK(value_at(gelu_tanh(), 0.0) == 0.0);
}

TEST_CASE("A deck's gelu is the exact one unless it asks for the tanh form") {
  const double exact = value_at(activation(Activation::gelu), 1.0);
  const double approximate = value_at(gelu_tanh(), 1.0);
  REQUIRE(exact != approximate);

  CHECK(value_at(layer_of("gelu"), 1.0) == exact);
  CHECK(value_at(layer_of("{type: gelu, approximate: none}"), 1.0) == exact);
  CHECK(value_at(layer_of("{type: gelu, approximate: tanh}"), 1.0) == approximate);
  CHECK(gelu_tanh()->type() == "gelu");
  CHECK(value_at(layer_of("silu"), 1.0) == value_at(silu(), 1.0));
  CHECK(silu()->type() == "silu");
}

TEST_CASE("The gradients of silu and gelu's tanh form equal difference quotients") {
  const std::array layers{silu(), gelu_tanh()};
  for (std::uint64_t round = 0; round < 100; ++round) {
    LayerRun run(layers[round % 2],
                 {Shape{random_integer(1, 7, round, 0), random_integer(1, 5, round, 1)}},
                 random_integer(1, 6, round, 2), round);

    CAPTURE(round);
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE("Silu and gelu's tanh form can be cut by elements, and cost what an exponential does") {
  const std::array input{Shape{6, 4}};
  for (const LayerPtr& layer : {silu(), gelu_tanh()}) {
    CHECK(layer->infer(input) == Shape{6, 4});
    CHECK(layer->forward_cost(2, input, DType::f32).bytes == 2.0 * 48.0 * 4.0);
    CHECK(layer->backward_cost(2, input, DType::f32, true).bytes == 3.0 * 48.0 * 4.0);
    CHECK(layer->backward_cost(2, input, DType::f32, false).flops == 0.0);
    CHECK(layer->forward_cost(2, input, DType::f32).flops >=
          activation(Activation::gelu)->forward_cost(2, input, DType::f32).flops);
    CHECK(layer->shard({.kind = SliceKind::elements, .begin = 0, .end = 3}, input).layer->type() ==
          layer->type());
  }
}

}  // namespace zygos::nn::test_sigmoid_weighted
