// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Models that policies are tested on, and where they are cut: random numbers, layers without
// parameters, and outputs that are read behind several cuts.
#pragma once

#include "small_run.hpp"

#include <string>
#include <vector>

namespace zygos::test {

/// First nodes of all stages but the first, for two, three and four stages.
struct CutModel {
  std::string name;
  graph::Graph graph;
  Names two;
  Names three;
  Names four;
};

/// Nine nodes with dropout, one in a sum, and statistics of five samples; outputs of the first and
/// second are read far behind.
inline CutModel dense_model() {
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  graph.add("fc1", tanh_layer(9));
  graph.add("drop1", nn::dropout(0.25));
  graph.add("fc2", tanh_layer(9));
  graph.add("normal", nn::batch_norm({.group = 5}));
  graph.add("sum", nn::add({.dropout = 0.25}), Names{"normal", "drop1"});
  graph.add("fc3", tanh_layer(9));
  graph.add("drop3", nn::dropout(0.5));
  graph.add("joined", nn::concat(), Names{"drop3", "fc1", "drop1", "input"});
  graph.add("fc4", nn::dense({.units = 3}));
  return {"dense", graph, {"sum"}, {"drop1", "drop3"}, {"fc2", "fc3", "joined"}};
}

/// Every kind of layer over images; what the first convolution, the first pooling and the
/// normalisation give is read behind later cuts, too.
inline CutModel image_model(double dropout_rate = 0.25) {
  using nn::Activation;
  graph::Graph graph(Shape{2, 6, 5}, nn::cross_entropy());
  graph.add(
      "conv1",
      nn::conv2d(
          {.filters = 4, .kernel = {3, 3}, .padding = {1, 1}, .activation = Activation::tanh}));
  graph.add("drop1", nn::dropout(dropout_rate));
  graph.add("conv2", nn::conv2d({.filters = 6, .kernel = {3, 3}, .padding = {1, 1}, .groups = 2}));
  graph.add("joined", nn::concat(), Names{"conv2", "drop1", "input"});
  graph.add("pool", nn::max_pool2d({.kernel = {2, 2}, .stride = {2, 2}, .ceil = true}));
  graph.add("norm", nn::layer_norm());
  graph.add(
      "larger",
      nn::conv_transpose2d(
          {{.filters = 12, .kernel = {2, 2}, .stride = {2, 2}, .activation = Activation::sigmoid},
           {0, 0}}));
  graph.add("mean", nn::average_pool2d({.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}));
  graph.add("sum", nn::add(), Names{"mean", "norm"});
  graph.add("gelu", nn::activation(Activation::gelu));
  graph.add("drop2", nn::dropout(2.0 * dropout_rate));
  graph.add("stacked", nn::concat(), Names{"drop2", "pool"});
  graph.add("fc", nn::dense({.units = 3}));
  return {"images", graph, {"norm"}, {"joined", "sum"}, {"conv2", "norm", "drop2"}};
}

/// Trees of nine nodes, whose graph convolutions read constants on every place.
inline CutModel tree_model() {
  const SampleGraph tree{nullptr, {2, 3}};
  graph::Graph graph(Shape{9, 2}, nn::cross_entropy());
  graph.add("mean", nn::graph_conv({.units = 3,
                                    .aggregate = nn::Aggregate::mean,
                                    .graph = tree,
                                    .activation = nn::Activation::tanh}));
  graph.add("drop", nn::dropout(0.25));
  graph.add("gcn", nn::graph_conv({.units = 4, .graph = tree}));
  graph.add("fc1", tanh_layer(5));
  graph.add("fc2", nn::dense({.units = 3}));
  return {"trees", graph, {"gcn"}, {"drop", "fc1"}, {"drop", "gcn", "fc2"}};
}

/// Statistics of the whole batch in the first node, on both sides of a sum, and behind everything.
/// Nothing in front of them whose gradient is zero but for rounding: Adam makes steps of that.
inline CutModel normalised_model() {
  graph::Graph graph(Shape{2, 4, 5}, nn::cross_entropy());
  const auto conv = nn::conv2d({.filters = 3, .kernel = {3, 3}, .padding = {1, 1}, .bias = false});
  graph.add("norm0", nn::batch_norm());
  graph.add("conv1", conv);
  graph.add("norm1", nn::batch_norm());
  graph.add("tanh", nn::activation(nn::Activation::tanh));
  graph.add("drop", nn::dropout(0.25));
  graph.add("conv2", conv);
  graph.add("norm2", nn::batch_norm());
  graph.add("tanh2", nn::activation(nn::Activation::tanh));
  graph.add("norm3", nn::batch_norm({.momentum = 0.5}));
  graph.add("sum", nn::add(), Names{"norm3", "norm1"});
  graph.add("flat", nn::flatten());
  graph.add("fc", nn::dense({.units = 3, .bias = false}));
  graph.add("norm4", nn::batch_norm());
  return {"normalised", graph, {"drop"}, {"norm1", "norm3"}, {"tanh", "norm2", "flat"}};
}

/// Stacked recurrent layers over four positions, of which a later one reads the first one's states,
/// too.
inline CutModel recurrent_model() {
  graph::Graph graph(Shape{4, 3}, nn::cross_entropy());
  graph.add("lstm", nn::lstm({.units = 4}));
  graph.add("drop", nn::dropout(0.25));
  graph.add("gru", nn::gru({.units = 4}));
  graph.add("joined", nn::concat(), Names{"gru", "drop"});
  graph.add("last", nn::lstm({.units = 5, .sequences = false}));
  graph.add("fc", nn::dense({.units = 3}));
  return {"recurrent", graph, {"gru"}, {"drop", "last"}, {"drop", "joined", "fc"}};
}

/// Of layers that take bf16.
inline std::vector<CutModel> bf16_cut_models() {
  return {dense_model(), image_model(), tree_model(), normalised_model()};
}

inline std::vector<CutModel> cut_models() {
  std::vector<CutModel> models = bf16_cut_models();
  models.push_back(recurrent_model());
  return models;
}

}  // namespace zygos::test
