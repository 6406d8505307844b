// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/deck/deck.hpp"
#include "zygos/nn/registry.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace zygos::nn {
namespace {

template <class Product>
std::vector<std::string> keywords(const std::vector<Entry<Product>>& entries) {
  std::vector<std::string> names;
  for (const Entry<Product>& entry : entries) {
    names.push_back(entry.schema.name());
  }
  return names;
}

template <class Product>
std::vector<deck::Schema> schemas_of(const std::vector<Entry<Product>>& entries) {
  std::vector<deck::Schema> schemas;
  for (const Entry<Product>& entry : entries) {
    schemas.push_back(entry.schema);
  }
  return schemas;
}

template <class Product>
Product made(const std::vector<Entry<Product>>& entries, const deck::Section& options) {
  const auto found = std::ranges::find_if(entries, [&](const Entry<Product>& entry) {
    return entry.schema.name() == options.text("type");
  });
  REQUIRE(found != entries.end());
  return found->make(options);
}

/// A section of a deck that has layers, a loss and an optimizer, and nothing else.
deck::Section section_of(const std::string& text) {
  deck::Schema schema("model", "The parts that nn registers.");
  schema.variants("layers", "type", schemas_of(layer_registry()), "Layers.").required();
  schema.variant("loss", "type", schemas_of(loss_registry()), "Loss.").required();
  schema.variant("optimizer", "type", schemas_of(optimizer_registry()), "Optimizer.").required();
  return deck::Deck::parse(text, "test.yaml", schema).root();
}

}  // namespace

TEST_CASE("The registries name every layer, loss and optimizer once") {
  CHECK(keywords(layer_registry()) == std::vector<std::string>{"dense", "relu", "tanh", "sigmoid",
                                                               "gelu", "leaky_relu", "dropout",
                                                               "add", "concat"});
  CHECK(keywords(loss_registry()) == std::vector<std::string>{"cross_entropy", "mse"});
  CHECK(keywords(optimizer_registry()) ==
        std::vector<std::string>{"sgd", "adam", "adamw", "adagrad", "rmsprop"});
}

TEST_CASE("What a deck names is what is made") {
  const deck::Section section = section_of(R"(
layers:
  - {type: dense, units: 7, bias: false, activation: tanh}
  - gelu
  - {type: dropout, rate: 0.5}
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
  CHECK(made(loss_registry(), section.section("loss"))->type() == "mse");
  const OptimizerPtr optimizer = made(optimizer_registry(), section.section("optimizer"));
  CHECK(optimizer->type() == "adamw");
  CHECK(optimizer->uses_decay());
}

TEST_CASE("Every type of a layer, loss and optimizer is its deck keyword") {
  for (const Entry<LayerPtr>& entry : layer_registry()) {
    CHECK_FALSE(entry.schema.doc().empty());
  }
  const deck::Section section = section_of(
      "layers: [{type: dense, units: 1}, relu, tanh, sigmoid, gelu, leaky_relu, {type: dropout, "
      "rate: 0}]\n"
      "loss: cross_entropy\noptimizer: sgd\n");
  for (const deck::Section& layer : section.sections("layers")) {
    CHECK(made(layer_registry(), layer)->type() == layer.text("type"));
  }
}

}  // namespace zygos::nn
