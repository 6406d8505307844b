// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "toy_layers.hpp"

#include "zygos/graph/graph.hpp"
#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <random>

namespace zygos::test_graph {
using Catch::Matchers::ContainsSubstring;
using namespace zygos::graph;
using zygos::DType;
using zygos::Shape;
using zygos::UsageError;
using zygos::testing::projection;
using zygos::testing::toy;
using zygos::testing::toy_loss;

namespace {

using Names = std::vector<std::string>;

/// input(4) -> a(3) -> relu -> b(2)
Graph chain() {
  Graph graph({4}, toy_loss());
  graph.add("a", projection(3));
  graph.add("relu", toy());
  graph.add("b", projection(2));
  return graph;
}

/// Cut points by their definition: try every edge against every cut.
std::vector<NodeId> cuts_by_definition(const Graph& graph) {
  std::vector<NodeId> cuts;
  const auto nodes = static_cast<NodeId>(graph.nodes().size());
  for (NodeId cut = 0; cut + 1 < nodes; ++cut) {
    bool clean = true;
    for (NodeId reader = cut + 1; reader < nodes; ++reader) {
      for (const NodeId input : graph.nodes()[static_cast<std::size_t>(reader)].inputs) {
        clean = clean && input >= cut;
      }
    }
    if (clean) {
      cuts.push_back(cut);
    }
  }
  return cuts;
}

}  // namespace

TEST_CASE("layers without inputs form a chain with inferred shapes", "[graph]") {
  const Graph graph = chain();

  CHECK(graph.input_shape() == Shape{4});
  CHECK(graph.output_shape() == Shape{2});
  REQUIRE(graph.nodes().size() == 3);
  CHECK(graph.nodes()[0].inputs == std::vector<NodeId>{graph_input});
  CHECK(graph.nodes()[2].inputs == std::vector<NodeId>{1});
  CHECK(graph.nodes()[2].input_shapes == std::vector<Shape>{{3}});
}

TEST_CASE("a layer can name its inputs, the model's input among them", "[graph]") {
  Graph graph({4}, toy_loss());
  graph.add("a", projection(4));

  const NodeId sum = graph.add("sum", toy(), Names{"a", "input"});

  CHECK(sum == 1);
  CHECK(graph.nodes()[1].inputs == std::vector<NodeId>{0, graph_input});
  CHECK(graph.nodes()[1].input_shapes.size() == 2);
}

TEST_CASE("a bad name, a double name and an unknown input are refused by the layer's name",
          "[graph]") {
  Graph graph = chain();

  CHECK_THROWS_WITH(graph.add("a", toy()),
                    ContainsSubstring("layer 'a'") && ContainsSubstring("already"));
  CHECK_THROWS_WITH(graph.add("input", toy()), ContainsSubstring("model's input"));
  CHECK_THROWS_AS(graph.add("", toy()), UsageError);
  CHECK_THROWS_AS(graph.add("a/b", toy()), UsageError);
  CHECK_THROWS_WITH(graph.add("c", toy(), Names{"relu", "rela"}),
                    ContainsSubstring("layer 'c'") && ContainsSubstring("'rela'") &&
                        ContainsSubstring("input, a, relu, b"));
  CHECK_THROWS_AS(graph.add("c", toy(), Names{"c"}), UsageError);
}

TEST_CASE("a shape that a layer refuses is reported under the layer's name", "[graph]") {
  Graph graph = chain();

  CHECK_THROWS_AS(graph.add("sum", toy(), Names{"a", "b"}), UsageError);
  CHECK_THROWS_WITH(graph.add("sum", toy(), Names{"a", "b"}),
                    ContainsSubstring("layer 'sum'") && ContainsSubstring("[3] and [2]"));
}

TEST_CASE("a layer that reads token ids reads the model's input and no other layer", "[graph]") {
  const auto tokens = zygos::nn::embedding({.vocabulary = 5, .units = 2});
  Graph graph({4}, toy_loss());

  graph.add("first", tokens);
  CHECK(graph.nodes()[0].output_shape == Shape{4, 2});
  CHECK_FALSE(graph.nodes()[0].wants_d_input);
  CHECK_NOTHROW(graph.add("again", tokens, Names{"input"}));
  CHECK_THROWS_WITH(graph.add("deep", tokens),
                    ContainsSubstring("layer 'deep'") && ContainsSubstring("inputs: [input]"));
}

TEST_CASE("a refused layer leaves the graph as it was", "[graph]") {
  Graph graph = chain();
  const std::string before = graph.text();
  const std::int64_t huge = (std::int64_t{1} << 57) + 16;

  CHECK_THROWS_AS(graph.add("sum", toy(), Names{"a", "b"}), UsageError);
  CHECK_THROWS_WITH(graph.add("big", toy({{"p", {huge}, {}}, {"q", {huge}, {}}})),
                    ContainsSubstring("2^58"));

  CHECK(graph.text() == before);
  CHECK(graph.add("sum", toy()) == 3);
}

TEST_CASE("parameters lie back to back at multiples of 16 elements, named after their layer",
          "[graph]") {
  const Graph graph = chain();

  const auto all = graph.parameters();

  REQUIRE(all.size() == 4);
  CHECK(all[0].name == "a/kernel");
  CHECK(all[0].offset == 0);
  CHECK(all[1].name == "a/bias");
  CHECK(all[1].offset == 16);
  CHECK_FALSE(all[1].decay);
  CHECK(all[2].name == "b/kernel");
  CHECK(all[2].offset == 32);
  CHECK(all[2].shape == Shape{3, 2});
  CHECK(all[3].offset == 48);
  CHECK(graph.parameter_elements() == 64);
  CHECK(graph.parameter_count() == 12 + 3 + 6 + 2);
}

TEST_CASE("each layer's parameters are a run of the model's", "[graph]") {
  const Graph graph = chain();

  CHECK(graph.parameters_of(0).data() == graph.parameters().data());
  CHECK(graph.parameters_of(0).size() == 2);
  CHECK(graph.parameters_of(1).empty());
  CHECK(graph.parameters_of(2).data() == graph.parameters().data() + 2);
  CHECK(graph.parameters_of(2).size() == 2);
}

TEST_CASE("nobody wants the input gradient of a layer without parameters before it", "[graph]") {
  Graph graph({4}, toy_loss());
  graph.add("scale", toy());
  graph.add("a", projection(4));
  graph.add("relu", toy());
  graph.add("side", toy(), Names{"scale"});
  graph.add("sum", toy(), Names{"side", "relu"});

  std::vector<bool> wants;
  for (const Node& node : graph.nodes()) {
    wants.push_back(node.wants_d_input);
  }

  CHECK(wants == std::vector<bool>{false, false, true, false, true});
}

TEST_CASE("a chain can be cut after every layer but the last", "[graph]") {
  CHECK(chain().cut_points() == std::vector<NodeId>{0, 1});
}

TEST_CASE("a graph can't be cut where a skip connection crosses", "[graph]") {
  Graph residual({4}, toy_loss());
  residual.add("a", projection(4));
  residual.add("b", toy());
  residual.add("c", toy());
  residual.add("sum", toy(), Names{"c", "a"});
  residual.add("d", toy());
  Graph from_input({4}, toy_loss());
  from_input.add("a", projection(4));
  from_input.add("sum", toy(), Names{"a", "input"});
  from_input.add("b", toy());

  CHECK(residual.cut_points() == std::vector<NodeId>{0, 3});
  CHECK(from_input.cut_points() == std::vector<NodeId>{1});
}

TEST_CASE("cut points of random graphs are those of the definition", "[graph]") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Graph graph({4}, toy_loss());
    const int nodes = 1 + static_cast<int>(random() % 12);
    Names names{"input"};
    for (int i = 0; i < nodes; ++i) {
      Names inputs{random() % 3 == 0 ? names[random() % names.size()] : names.back()};
      if (random() % 4 == 0) {
        inputs.push_back(names[random() % names.size()]);
      }
      names.push_back(std::string("n").append(std::to_string(i)));
      graph.add(names.back(), toy(), inputs);
    }

    CHECK(graph.cut_points() == cuts_by_definition(graph));
  }
}

TEST_CASE("costs are the sums over layers, and over the loss when training", "[graph]") {
  const Graph graph = chain();

  const auto forward = graph.forward_cost(2, DType::f32);
  const auto training = graph.training_cost(2, DType::f32);

  CHECK(forward.flops == 2.0 * (4 + 3 + 3));
  CHECK(forward.bytes == 3 * 4.0);
  CHECK(training.flops == forward.flops + 2.0 * (10000 + 100 + 1000 + 1000));
}

TEST_CASE("a model is trainable only with layers, parameters and every output read", "[graph]") {
  Graph graph({4}, toy_loss());
  CHECK_THROWS_WITH(graph.require_trainable(), ContainsSubstring("no layers"));
  CHECK_THROWS_AS(graph.output_shape(), UsageError);

  graph.add("scale", toy());
  CHECK_THROWS_WITH(graph.require_trainable(), ContainsSubstring("no parameters"));

  graph.add("lost", projection(4));
  graph.add("a", projection(4), Names{"scale"});
  CHECK_THROWS_WITH(graph.require_trainable(),
                    ContainsSubstring("layer 'lost'") && ContainsSubstring("nobody reads"));

  graph.add("sum", toy(), Names{"lost", "a"});
  CHECK_NOTHROW(graph.require_trainable());
}

TEST_CASE("the text of a graph is a table with aligned columns and a total", "[graph]") {
  CHECK(chain().text() ==
        "layer  type        inputs  output  parameters\n"
        "input  -           -       [4]              0\n"
        "a      projection  input   [3]             15\n"
        "relu   toy         a       [3]              0\n"
        "b      projection  relu    [2]              8\n"
        "loss toy_loss, 23 parameters\n");
}

TEST_CASE("nothing before a frozen layer wants a gradient unless it is trained", "[graph]") {
  Graph graph = chain();
  CHECK(graph.has_backward(0));
  CHECK(graph.nodes()[2].wants_d_input);

  graph.freeze(0);

  CHECK(graph.nodes()[0].frozen);
  CHECK_FALSE(graph.has_backward(0));
  CHECK_FALSE(graph.has_backward(1));
  CHECK(graph.has_backward(2));
  CHECK_FALSE(graph.nodes()[2].wants_d_input);
  graph.add("c", projection(2));
  graph.freeze(2);
  CHECK_FALSE(graph.has_backward(2));
  CHECK_FALSE(graph.nodes()[3].wants_d_input);

  Graph behind = chain();
  behind.freeze(2);
  CHECK(behind.nodes()[2].wants_d_input);
  CHECK(behind.has_backward(2));
}

TEST_CASE("parameters of a frozen layer are not trained, and do not cost a gradient", "[graph]") {
  Graph graph = chain();
  graph.freeze(2);

  CHECK(graph.parameters()[0].trained());
  CHECK(graph.parameters()[2].frozen);
  CHECK_FALSE(graph.parameters()[3].trained());
  CHECK(graph.parameter_count() == 23);
  CHECK(graph.trained_count() == 15);
  // Of a, relu, and of what b needs beyond its parameters' gradient.
  CHECK(graph.training_cost(1, DType::f32).flops ==
        graph.forward_cost(1, DType::f32).flops + 10000 + 100 + 1000 + (1000 - 100));
  CHECK(graph.text() ==
        "layer  type                inputs  output  parameters\n"
        "input  -                   -       [4]              0\n"
        "a      projection          input   [3]             15\n"
        "relu   toy                 a       [3]              0\n"
        "b      projection, frozen  relu    [2]              8\n"
        "loss toy_loss, 23 parameters, 15 trained\n");
}

TEST_CASE("what can't be frozen is refused by the layer's name, as is a model without the rest",
          "[graph]") {
  Graph graph = chain();

  CHECK_THROWS_WITH(graph.freeze(1), ContainsSubstring("layer 'relu'") &&
                                         ContainsSubstring("type 'toy' has no parameters"));
  graph.freeze(0);
  CHECK_NOTHROW(graph.require_trainable());
  graph.freeze(2);
  CHECK_THROWS_WITH(graph.require_trainable(), ContainsSubstring("nothing is left to train"));
}

TEST_CASE("a graph is a value: a copy goes its own way", "[graph]") {
  const Graph original = chain();

  Graph copy = original;
  copy.add("c", projection(1));

  CHECK(original.nodes().size() == 3);
  CHECK(copy.nodes().size() == 4);
  CHECK(copy.parameters_of(3).size() == 2);
}

TEST_CASE("Of an output's readers the last one writes its gradient, the others add theirs") {
  using enum InputGradient;
  using Row = std::vector<InputGradient>;
  Graph graph({4}, toy_loss());
  graph.add("a", projection(4));
  graph.add("b", projection(4));
  graph.add("c", projection(4), Names{"a"});
  graph.add("d", projection(4), Names{"b"});

  CHECK(graph.input_gradients() == std::vector<Row>{{unwanted}, {added}, {written}, {written}});
}

TEST_CASE("Below the first parameter nobody wants a gradient") {
  using enum InputGradient;
  Graph graph({4}, toy_loss());
  graph.add("relu", toy());
  graph.add("a", projection(4));
  graph.add("b", projection(4));

  CHECK(graph.input_gradients() ==
        std::vector<std::vector<InputGradient>>{{unwanted}, {unwanted}, {written}});
}

}  // namespace zygos::test_graph
