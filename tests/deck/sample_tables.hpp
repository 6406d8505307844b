// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The tables of a run as the library's registries have them, without the library.
#pragma once

#include "zygos/deck/run_schema.hpp"

#include <string>

namespace zygos::test {

inline deck::Schema dense_schema() {
  deck::Schema schema("dense", "Fully connected: y = f(x W + b), the input flattened.");
  schema.integer("units", "Output features (width of the layer).")
      .required()
      .at_least(1)
      .example("128");
  schema.boolean("bias", "Bias: whether to add b.").fallback(true);
  schema.choice("activation", {"none", "relu", "tanh", "sigmoid"}, "Activation function f.")
      .fallback("none")
      .advice("put a gelu layer behind the dense layer");
  return schema;
}

inline deck::Schema dropout_schema() {
  deck::Schema schema("dropout", "Drops features at random.");
  schema.real("rate", "Dropout rate: probability that a feature is dropped.")
      .required()
      .at_least(0)
      .below(1)
      .example("0.2");
  return schema;
}

inline deck::Schema adam_schema(const char* name, double decay) {
  deck::Schema schema(name, "Adam.");
  schema.real("learning_rate", "Learning rate: scale of every update.").fallback(0.001).above(0);
  schema.real("beta1", "Decay rate of the mean gradient (first moment).")
      .fallback(0.9)
      .at_least(0)
      .below(1);
  schema.real("beta2", "Decay rate of the mean squared gradient (second moment).")
      .fallback(0.999)
      .at_least(0)
      .below(1);
  schema.real("epsilon", "Added to the root.").fallback(1e-8).above(0);
  schema.real("weight_decay", "Decay of the weights.").fallback(decay).at_least(0);
  return schema;
}

inline deck::Schema sgd_schema() {
  deck::Schema schema("sgd", "Stochastic gradient descent.");
  schema.real("learning_rate", "Learning rate: scale of every update.").fallback(0.01).above(0);
  schema.real("momentum", "Momentum: share of the velocity that is kept.")
      .fallback(0.0)
      .at_least(0)
      .below(1);
  schema.real("weight_decay", "Decay of the weights.").fallback(0.0).at_least(0);
  return schema;
}

inline deck::RunTables sample_tables() {
  deck::Schema single("single", "The whole batch on one lane.");
  single.text("lane", "Name of the lane; the first one if not given.");
  deck::Schema split("coarse_split", "Each of two lanes trains its share of every batch.");
  split.real("share", "Fraction of the batch for the first lane.")
      .in_range(0, 1)
      .or_word("auto")
      .fallback("auto");
  return {.layers = {dense_schema(),
                     {"relu", "max(x, 0)"},
                     {"tanh", "tanh(x)"},
                     {"sigmoid", "1 / (1 + exp(-x))"},
                     {"gelu", "x Phi(x)"},
                     dropout_schema()},
          .losses = {{"cross_entropy", "Softmax and cross-entropy."}, {"mse", "Squared error."}},
          .optimizers = {sgd_schema(), adam_schema("adam", 0.0), adam_schema("adamw", 0.01)},
          .policies = {single, split}};
}

inline deck::Schema sample_schema() { return deck::run_schema(sample_tables()); }

inline constexpr const char* sample_deck = R"(deck_version: 1
data:
  format: glyphs
  samples: 200
model:
  layers:
    - {type: dense, units: 16, activation: relu}
    - {type: dense, units: 10}
optimizer:
  type: sgd
  learning_rate: 0.1
train:
  epochs: 1
  batch: 20
)";

}  // namespace zygos::test
