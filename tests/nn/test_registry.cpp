// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/support/from_deck.hpp"

#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <string>
#include <vector>

namespace zygos::nn::test_registry {
namespace {

using testing::keywords;
using testing::made;
using testing::schemas_of;

/// A section of a deck that has layers, a loss and an optimizer, and nothing else.
deck::Section section_of(const std::string& text) {
  deck::Schema schema("model", "The parts that nn registers.");
  schema.variants("layers", "type", schemas_of(layer_registry()), "Layers.").required();
  schema.variant("loss", "type", schemas_of(loss_registry()), "Loss.").required();
  schema.variant("optimizer", "type", schemas_of(optimizer_registry()), "Optimizer.").required();
  return deck::Deck::parse(text, "test.yaml", schema).root();
}

}  // namespace

TEST_CASE("The registries name every layer, loss, optimizer and schedule once") {
  CHECK(keywords(layer_registry()) == std::vector<std::string>{"dense",
                                                               "conv1d",
                                                               "conv2d",
                                                               "conv_transpose2d",
                                                               "max_pool2d",
                                                               "average_pool2d",
                                                               "upsample",
                                                               "reshape",
                                                               "flatten",
                                                               "transpose",
                                                               "select",
                                                               "relu",
                                                               "tanh",
                                                               "sigmoid",
                                                               "gelu",
                                                               "silu",
                                                               "leaky_relu",
                                                               "dropout",
                                                               "batch_norm",
                                                               "layer_norm",
                                                               "group_norm",
                                                               "lrn",
                                                               "embedding",
                                                               "positions",
                                                               "class_token",
                                                               "attention",
                                                               "causal_attention",
                                                               "lstm",
                                                               "gru",
                                                               "graph_conv",
                                                               "add",
                                                               "concat"});
  CHECK(keywords(loss_registry()) ==
        std::vector<std::string>{"cross_entropy", "mse", "mae", "bce", "dice"});
  CHECK(keywords(optimizer_registry()) ==
        std::vector<std::string>{"sgd", "adam", "adamw", "adagrad", "rmsprop", "one_bit_adam"});
  CHECK(keywords(rate_schedule_registry()) == std::vector<std::string>{"constant", "step",
                                                                       "milestones", "cosine",
                                                                       "exponential", "plateau"});
}

TEST_CASE("Balanced class weights ask for the counts of labels, and other losses don't") {
  int asked = 0;
  const auto registry = loss_registry([&] {
    ++asked;
    return std::vector<std::int64_t>{3, 1};
  });
  const auto loss_of = [&](const std::string& text) {
    return testing::made(registry, testing::section_of(registry, text));
  };
  CHECK(loss_of("cross_entropy")->constants(Shape{3}).empty());
  CHECK(loss_of("{type: cross_entropy, class_weights: [1, 2, 3]}")->constants(Shape{3}).size() ==
        1);
  CHECK(asked == 0);

  const auto loss = loss_of("{type: cross_entropy, class_weights: balanced}");

  CHECK(asked == 1);
  // The model may have outputs that no sample is labelled with.
  CHECK_NOTHROW(loss->check(Shape{3}, Shape{}, 2));
  const auto constants = loss->constants(Shape{3});
  REQUIRE(constants.size() == 1);
  std::vector<double> weights(3);
  constants[0].fill(weights.data());
  CHECK(weights == std::vector<double>{4.0 / 6.0, 2.0, 1.0});
}

TEST_CASE("What a deck names is what is made") {
  const deck::Section section = section_of(R"(
layers:
  - {type: dense, units: 7, bias: false, activation: tanh}
  - gelu
  - {type: dropout, rate: 0.5}
  - {type: conv2d, filters: 4, kernel: [3, 1], padding: 1, stride: [1, 2]}
  - {type: conv_transpose2d, filters: 2, kernel: 2, stride: 2, output_padding: 1}
  - {type: max_pool2d, kernel: 3, stride: 2, ceil: true}
  - {type: average_pool2d, kernel: [2, 4]}
  - {type: upsample, factor: [2, 1], mode: bilinear}
  - {type: reshape, shape: [6, -1]}
  - flatten
  - {type: add, dropout: 0.5}
  - {type: select, index: -1}
  - {type: concat, axis: last}
loss: mse
optimizer: {type: adamw, learning_rate: 0.5}
)");
  const auto layers = section.sections("layers");
  const std::array input{Shape{3}};

  const LayerPtr dense = made(layer_registry(), layers[0]);
  CHECK(dense->type() == "dense");
  CHECK(dense->infer(input) == Shape{7});
  CHECK(dense->parameters(input).size() == 1);
  CHECK(dense->workspace(1, input, DType::f32).size() == 1);
  CHECK(made(layer_registry(), layers[1])->type() == "gelu");
  CHECK(made(layer_registry(), layers[2])->type() == "dropout");
  const auto output = [&](std::size_t index) {
    return made(layer_registry(), layers[index])->infer(std::array{Shape{3, 8, 8}});
  };
  CHECK(output(3) == Shape{4, 8, 5});
  CHECK(output(4) == Shape{2, 17, 17});
  CHECK(output(5) == Shape{3, 4, 4});
  CHECK(output(6) == Shape{3, 4, 2});
  CHECK(output(7) == Shape{3, 16, 8});
  CHECK(output(8) == Shape{6, 32});
  CHECK(output(9) == Shape{192});
  const std::array joined{Shape{3}, Shape{3}};
  CHECK(made(layer_registry(), layers[10])->forward_cost(1, joined, DType::f32).flops >
        add()->forward_cost(1, joined, DType::f32).flops);
  CHECK(output(11) == Shape{8, 8});
  const std::array sequences{Shape{2, 3}, Shape{2, 5}};
  CHECK(made(layer_registry(), layers[12])->infer(sequences) == Shape{2, 8});
  CHECK(made(loss_registry(), section.section("loss"))->type() == "mse");
  const OptimizerPtr optimizer = made(optimizer_registry(), section.section("optimizer"));
  CHECK(optimizer->type() == "adamw");
  CHECK(optimizer->uses_decay());
  CHECK_FALSE(optimizer->clip_norm().has_value());
  CHECK(made(optimizer_registry(), section_of("layers: [relu]\nloss: mse\noptimizer: {type: sgd, "
                                              "clip_norm: 2}")
                                       .section("optimizer"))
            ->clip_norm() == 2.0);
}

TEST_CASE("Every type of a layer, loss and optimizer is its deck keyword") {
  for (const Entry<LayerPtr>& entry : layer_registry()) {
    CHECK_FALSE(entry.schema.doc().empty());
  }
  const deck::Section section = section_of(
      "layers: [{type: dense, units: 1}, {type: conv1d, filters: 1, kernel: 1}, {type: conv2d, "
      "filters: 1, kernel: 1}, {type: "
      "conv_transpose2d, filters: 1, kernel: 1}, {type: max_pool2d, kernel: 1}, {type: "
      "average_pool2d, kernel: 1}, {type: upsample, factor: 1}, {type: reshape, shape: [-1]}, "
      "flatten, relu, tanh, sigmoid, gelu, silu, leaky_relu, batch_norm, layer_norm, {type: "
      "group_norm, groups: 1}, lrn, {type: "
      "dropout, "
      "rate: 0}, {type: lstm, units: 1}, {type: gru, units: 1}, class_token, {type: select, index: "
      "0}]\n"
      "loss: cross_entropy\noptimizer: sgd\n");
  for (const deck::Section& layer : section.sections("layers")) {
    CHECK(made(layer_registry(), layer)->type() == layer.text("type"));
  }
}

}  // namespace zygos::nn::test_registry
