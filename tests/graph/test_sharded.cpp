// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/graph/graph.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/losses.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <vector>

namespace zygos::graph::test_sharded {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Inputs = std::vector<NodeId>;

/// fc1 (7) -> gelu -> fc2 (4, relu) -> drop -> out (3)
Graph whole_model() {
  Graph graph(Shape{5}, nn::cross_entropy());
  graph.add("fc1", nn::dense({.units = 7}));
  graph.add("gelu", nn::activation(nn::Activation::gelu));
  graph.add("fc2", nn::dense({.units = 4, .activation = nn::Activation::relu}));
  graph.add("drop", nn::dropout(0.5));
  graph.add("out", nn::dense({.units = 3}));
  return graph;
}

/// Hidden units [3, 7) first, then [0, 3), the sum and the rest.
std::vector<ModelSlice> two_slices() {
  return {{"fc1.1", 0, SliceKind::outputs, 3, 7, 7},   {"gelu.1", 1, SliceKind::elements, 3, 7, 7},
          {"fc2.1", 2, SliceKind::inputs, 3, 7, 7},    {"fc1.0", 0, SliceKind::outputs, 0, 3, 7},
          {"gelu.0", 1, SliceKind::elements, 0, 3, 7}, {"fc2.0", 2, SliceKind::inputs, 0, 3, 7},
          {"fc2.sum", 2, SliceKind::sum, 0, 0, 0},     {"fc2", 2, SliceKind::epilogue, 0, 0, 0},
          {"drop", 3, SliceKind::whole, 0, 0, 0},      {"out", 4, SliceKind::whole, 0, 0, 0}};
}

TEST_CASE("No slices give the model as it is") {
  const Graph graph = sharded(whole_model(), {});

  CHECK(graph.text() == whole_model().text());
}

TEST_CASE("Slices of a pair read each other, their sum, and the rest reads the sum's activation") {
  const Graph graph = sharded(whole_model(), two_slices());

  std::vector<Inputs> inputs;
  std::vector<std::string> types;
  std::vector<std::uint32_t> streams;
  for (const Node& node : graph.nodes()) {
    inputs.push_back(node.inputs);
    types.emplace_back(node.layer->type());
    streams.push_back(node.stream);
  }
  CHECK(inputs == std::vector<Inputs>{{-1}, {0}, {1}, {-1}, {3}, {4}, {2, 5}, {6}, {7}, {8}});
  CHECK(types == std::vector<std::string>{"dense", "gelu", "dense", "dense", "gelu", "dense", "add",
                                          "relu", "dropout", "dense"});
  // Random numbers do not depend on how the model is cut.
  CHECK(streams == std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2, 2, 2, 3, 4});
  CHECK(graph.output_shape() == Shape{3});
  CHECK(graph.nodes()[0].output_shape == Shape{4});
  CHECK(graph.nodes()[5].output_shape == Shape{4});
  CHECK_NOTHROW(graph.require_trainable());
}

TEST_CASE("A bias that is added once belongs to the first slice") {
  const Graph graph = sharded(whole_model(), two_slices());

  std::vector<std::string> names;
  for (const Parameter& parameter : graph.parameters()) {
    names.push_back(parameter.name + " " + parameter.shape.text());
  }
  CHECK(names == std::vector<std::string>{"fc1.1/kernel [5, 4]", "fc1.1/bias [4]",
                                          "fc2.1/kernel [4, 4]", "fc1.0/kernel [5, 3]",
                                          "fc1.0/bias [3]", "fc2.0/kernel [3, 4]", "fc2.0/bias [4]",
                                          "out/kernel [4, 3]", "out/bias [3]"});
  CHECK(graph.parameter_count() == whole_model().parameter_count());
}

TEST_CASE("Parameters of slices keep initialiser and decay of the whole layer") {
  const Graph whole = whole_model();
  const Graph graph = sharded(whole, two_slices());

  for (const Parameter& parameter : graph.parameters()) {
    const Parameter& from = whole.parameters()[parameter.origin.value().parameter];
    CAPTURE(parameter.name, from.name);
    CHECK(parameter.init.scale == from.init.scale);
    CHECK(parameter.decay == from.decay);
  }
}

TEST_CASE("Slices of a frozen layer are frozen, and their sum passes gradients as the layer does") {
  Graph whole = whole_model();
  whole.freeze(0);
  whole.freeze(2);
  const Graph graph = sharded(whole, two_slices());

  for (const Parameter& parameter : graph.parameters()) {
    CAPTURE(parameter.name);
    CHECK(parameter.frozen == !parameter.name.starts_with("out/"));
  }
  CHECK(graph.trained_count() == whole.trained_count());
  for (NodeId node = 0; node < 9; ++node) {
    CHECK_FALSE(graph.has_backward(node));
  }
  CHECK(graph.has_backward(9));
}

TEST_CASE("Runs of elements cover all parameters of both models once") {
  const Graph whole = whole_model();
  const Graph graph = sharded(whole, two_slices());
  std::vector<int> of_whole(static_cast<std::size_t>(whole.parameter_elements()), 0);
  std::vector<int> of_shards(static_cast<std::size_t>(graph.parameter_elements()), 0);

  for (const ElementRun& run : element_runs(whole, graph)) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      ++of_whole[static_cast<std::size_t>(run.whole + i)];
      ++of_shards[static_cast<std::size_t>(run.shard + i)];
    }
  }

  CHECK(std::ranges::max(of_whole) == 1);
  CHECK(std::ranges::max(of_shards) == 1);
  CHECK(std::ranges::count(of_whole, 1) == whole.parameter_count());
  CHECK(std::ranges::count(of_shards, 1) == whole.parameter_count());
}

TEST_CASE("Columns of a kernel lie apart in the whole model and together in a slice") {
  const Graph whole = whole_model();
  const auto runs = element_runs(whole, sharded(whole, two_slices()));

  for (std::int64_t row = 0; row < 5; ++row) {
    const ElementRun& run = runs[static_cast<std::size_t>(row)];
    CHECK(run.whole == 7 * row + 3);
    CHECK(run.shard == 4 * row);
    CHECK(run.count == 4);
  }
}

TEST_CASE("A head's queries, keys and values are three ranges of the whole kernel and bias") {
  Graph whole(Shape{2, 3}, nn::cross_entropy());
  whole.add("qkv", nn::dense({.units = 12, .flatten = false}));
  whole.add("attention", nn::causal_attention({.heads = 2}));
  whole.add("out", nn::dense({.units = 5, .flatten = false}));
  const std::vector<ModelSlice> slices{{"qkv.1", 0, SliceKind::outputs, 2, 4, 4, 3},
                                       {"attention.1", 1, SliceKind::elements, 2, 4, 4},
                                       {"out.1", 2, SliceKind::inputs, 2, 4, 4},
                                       {"qkv.0", 0, SliceKind::outputs, 0, 2, 4, 3},
                                       {"attention.0", 1, SliceKind::elements, 0, 2, 4},
                                       {"out.0", 2, SliceKind::inputs, 0, 2, 4},
                                       {"out", 2, SliceKind::sum, 0, 0, 0}};
  const Graph graph = sharded(whole, slices);

  CHECK(graph.nodes()[0].output_shape == Shape{2, 6});
  CHECK(graph.nodes()[1].output_shape == Shape{2, 2});
  const auto runs = element_runs(whole, graph);
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t part = 0; part < 3; ++part) {
      const ElementRun& run = runs[static_cast<std::size_t>(3 * row + part)];
      CHECK(run.whole == 12 * row + 4 * part + 2);
      CHECK(run.shard == 6 * row + 2 * part);
      CHECK(run.count == 2);
    }
  }
  auto parted = slices;
  for (ModelSlice& slice : parted) {
    slice.end = slice.kind == SliceKind::sum ? 0 : slice.begin == 0 ? 1 : 4;
    slice.begin = slice.begin == 0 ? 0 : 1;
  }
  CHECK_THROWS_MATCHES(sharded(whole, parted), UsageError,
                       MessageMatches(ContainsSubstring("whole heads")));
}

TEST_CASE("Slices of convolutions have filters, then channels, and rows behind a flatten") {
  Graph whole(Shape{2, 3, 3}, nn::cross_entropy());
  whole.add("conv", nn::conv2d({.filters = 4, .kernel = {2, 2}}));
  whole.add("normal", nn::batch_norm());
  whole.add("flat", nn::flatten());
  whole.add("out", nn::dense({.units = 3}));
  const Graph graph =
      sharded(whole, std::vector<ModelSlice>{{"conv.1", 0, SliceKind::outputs, 1, 4, 4},
                                             {"normal.1", 1, SliceKind::elements, 1, 4, 4},
                                             {"flat.1", 2, SliceKind::elements, 1, 4, 4},
                                             {"out.1", 3, SliceKind::inputs, 1, 4, 4},
                                             {"conv.0", 0, SliceKind::outputs, 0, 1, 4},
                                             {"normal.0", 1, SliceKind::elements, 0, 1, 4},
                                             {"flat.0", 2, SliceKind::elements, 0, 1, 4},
                                             {"out.0", 3, SliceKind::inputs, 0, 1, 4},
                                             {"out", 3, SliceKind::sum, 0, 0, 0}});

  std::vector<std::string> shapes;
  for (const Parameter& parameter : graph.parameters_of(0)) {
    shapes.push_back(parameter.shape.text());
  }
  CHECK(shapes == std::vector<std::string>{"[3, 2, 2, 2]", "[3]"});
  CHECK(graph.parameters_of(1).size() == 4);
  CHECK(graph.nodes()[2].output_shape == Shape{12});
  CHECK(graph.parameter_count() == whole.parameter_count());
}

TEST_CASE("Layers that can't be cut so are refused by name") {
  Graph normed(Shape{5}, nn::cross_entropy());
  normed.add("norm", nn::layer_norm());
  const std::vector<ModelSlice> part{{"norm", 0, SliceKind::elements, 0, 3, 5}};
  CHECK_THROWS_MATCHES(
      sharded(normed, part), UsageError,
      MessageMatches(ContainsSubstring("'norm'") && ContainsSubstring("'layer_norm'")));

  auto slices = two_slices();
  slices[3].end = 9;
  CHECK_THROWS_MATCHES(
      sharded(whole_model(), slices), UsageError,
      MessageMatches(ContainsSubstring("fc1.0 columns 0-9 of 7") && ContainsSubstring("7 units")));

  slices = two_slices();
  slices[5].end = 2;
  CHECK_THROWS_MATCHES(sharded(whole_model(), slices), UsageError,
                       MessageMatches(ContainsSubstring("'fc2.0' reads node 1")));
}

}  // namespace
}  // namespace zygos::graph::test_sharded
