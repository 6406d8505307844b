// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Weights between Zygos' names and layouts and PyTorch's.
#include "load/natural_order.hpp"

#include "zygos/core/error.hpp"
#include "zygos/load/deck_file.hpp"
#include "zygos/load/graph.hpp"
#include "zygos/load/state_dict.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace zygos::test_state_dict {
using namespace zygos::load;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

graph::Graph graph_of(const std::string& layers, const Shape& sample,
                      const SampleGraph& of_data = {}) {
  const CheckedDeck deck =
      parse_deck("deck_version: 1\ndata: glyphs\nmodel:\n  layers:\n" + layers +
                     "  loss: mse\noptimizer: sgd\ntrain: {batch: 1, "
                     "epochs: 1}\n",
                 "test.yaml", {});
  return build_model(deck.spec, sample, of_data, deck.deck.findings());
}

graph::Graph two_layers() {
  return graph_of(
      "    - {name: a, type: dense, units: 3}\n    - {name: b, type: dense, units: 2}\n", Shape{2});
}

/// Two nodes with an edge between them.
SampleGraph pair_of_nodes() {
  const std::vector<std::int32_t> edges{0, 1};
  return {std::make_shared<const Adjacency>(graph_of_edges(2, edges)), {}};
}

io::StoredTensor tensor(const std::string& name, const Shape& shape, float first = 0.0F) {
  std::vector<float> values(static_cast<std::size_t>(shape.size()));
  std::iota(values.begin(), values.end(), first);
  const auto bytes = std::as_bytes(std::span(values));
  return {name, DType::f32, shape, {bytes.begin(), bytes.end()}};
}

std::vector<float> floats_of(const io::StoredTensor& tensor) {
  REQUIRE(tensor.dtype == DType::f32);
  std::vector<float> values(static_cast<std::size_t>(tensor.shape.size()));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

const io::StoredTensor& named(const std::vector<io::StoredTensor>& tensors,
                              const std::string& name) {
  const auto found = std::ranges::find(tensors, name, &io::StoredTensor::name);
  REQUIRE(found != tensors.end());
  return *found;
}

/// Different numbers in every parameter of the graph.
std::vector<io::StoredTensor> numbered(const graph::Graph& graph) {
  std::vector<io::StoredTensor> weights;
  for (const graph::Parameter& parameter : graph.parameters()) {
    weights.push_back(
        tensor(parameter.name, parameter.shape, 1000.0F * static_cast<float>(weights.size() + 1)));
  }
  return weights;
}

std::vector<infer::Weight> weights_in(const std::vector<io::StoredTensor>& tensors) {
  std::vector<infer::Weight> weights;
  for (const io::StoredTensor& tensor : tensors) {
    weights.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.bytes.data()});
  }
  return weights;
}

std::vector<io::StoredTensor> small_state() {
  return {tensor("a.weight", Shape{3, 2}), tensor("a.bias", Shape{3}, 10),
          tensor("b.weight", Shape{2, 3}, 20), tensor("b.bias", Shape{2}, 30)};
}

}  // namespace

TEST_CASE("A dense layer's kernel is the transpose of PyTorch's weight") {
  const graph::Graph graph = two_layers();
  const MatchedWeights matched = match_weights(graph, small_state(), "test");
  CHECK(matched.missing.empty());
  CHECK(matched.unused.empty());
  REQUIRE(matched.weights.size() == 4);
  // weight(output, input) = 2 output + input, so kernel(input, output) is
  CHECK(floats_of(named(matched.weights, "a/kernel")) == std::vector<float>{0, 2, 4, 1, 3, 5});
  CHECK(floats_of(named(matched.weights, "a/bias")) == std::vector<float>{10, 11, 12});
  CHECK(floats_of(named(matched.weights, "b/kernel")) ==
        std::vector<float>{20, 23, 21, 24, 22, 25});
  const auto state = state_dict_of(graph, weights_in(matched.weights));
  for (const io::StoredTensor& original : small_state()) {
    const io::StoredTensor& back = named(state, original.name);
    CHECK(back.shape == original.shape);
    CHECK(back.bytes == original.bytes);
  }
}

TEST_CASE("Every layer with parameters has the names and shapes of its PyTorch module") {
  const SampleGraph nodes = pair_of_nodes();
  struct Case {
    const char* layers;
    Shape sample;
    std::map<std::string, Shape> expected;
  };
  const std::vector<Case> cases{
      {"{type: conv2d, filters: 6, kernel: [3, 5], groups: 2}",
       Shape{4, 8, 8},
       {{"x.weight", Shape{6, 2, 3, 5}}, {"x.bias", Shape{6}}}},
      {"{type: conv1d, filters: 6, kernel: 5}",
       Shape{4, 8},
       {{"x.weight", Shape{6, 4, 5}}, {"x.bias", Shape{6}}}},
      {"{type: conv_transpose2d, filters: 6, kernel: 2, stride: 2}",
       Shape{4, 8, 8},
       {{"x.weight", Shape{4, 6, 2, 2}}, {"x.bias", Shape{6}}}},
      {"{type: dense, units: 5, bias: false}", Shape{2, 3}, {{"x.weight", Shape{5, 6}}}},
      {"{type: batch_norm}",
       Shape{4, 8, 8},
       {{"x.weight", Shape{4}},
        {"x.bias", Shape{4}},
        {"x.running_mean", Shape{4}},
        {"x.running_var", Shape{4}}}},
      {"{type: layer_norm}", Shape{4, 8}, {{"x.weight", Shape{8}}, {"x.bias", Shape{8}}}},
      {"{type: group_norm, groups: 2}",
       Shape{4, 8},
       {{"x.weight", Shape{4}}, {"x.bias", Shape{4}}}},
      {"{type: embedding, vocabulary: 11, units: 7}", Shape{4}, {{"x.weight", Shape{11, 7}}}},
      {"{type: positions}", Shape{4, 8}, {{"x.weight", Shape{4, 8}}}},
      {"{type: lstm, units: 3}",
       Shape{4, 5},
       {{"x.weight_ih_l0", Shape{12, 5}},
        {"x.weight_hh_l0", Shape{12, 3}},
        {"x.bias_ih_l0", Shape{12}},
        {"x.bias_hh_l0", Shape{12}}}},
      {"{type: gru, units: 3}",
       Shape{4, 5},
       {{"x.weight_ih_l0", Shape{9, 5}},
        {"x.weight_hh_l0", Shape{9, 3}},
        {"x.bias_ih_l0", Shape{9}},
        {"x.bias_hh_l0", Shape{9}}}},
      {"{type: lstm, units: 3, reverse: true}",
       Shape{4, 5},
       {{"x.weight_ih_l0_reverse", Shape{12, 5}},
        {"x.weight_hh_l0_reverse", Shape{12, 3}},
        {"x.bias_ih_l0_reverse", Shape{12}},
        {"x.bias_hh_l0_reverse", Shape{12}}}},
      {"{type: class_token}", Shape{4, 8}, {{"x.cls_token", Shape{1, 1, 8}}}},
      {"{type: graph_conv, units: 5}",
       Shape{2, 3},
       {{"x.lin.weight", Shape{5, 3}}, {"x.bias", Shape{5}}}},
      {"{type: graph_conv, units: 5, aggregate: mean}",
       Shape{2, 3},
       {{"x.lin_l.weight", Shape{5, 3}},
        {"x.lin_l.bias", Shape{5}},
        {"x.lin_r.weight", Shape{5, 3}}}}};
  for (const Case& one : cases) {
    CAPTURE(one.layers);
    std::string layer = one.layers;
    layer.insert(1, "name: x, ");
    const graph::Graph graph = graph_of("    - " + layer + "\n", one.sample, nodes);
    const auto weights = numbered(graph);
    const auto state = state_dict_of(graph, weights_in(weights));
    std::map<std::string, Shape> found;
    for (const io::StoredTensor& tensor : state) {
      found[tensor.name] = tensor.shape;
    }
    CHECK(found == one.expected);
    // Every element is in there once: back again, all weights are as they were.
    const auto back = match_weights(graph, state, "state").weights;
    REQUIRE(back.size() == weights.size());
    for (const io::StoredTensor& weight : weights) {
      CHECK(named(back, weight.name).bytes == weight.bytes);
    }
  }
}

TEST_CASE("The rows of a mean's kernel are those of the node, then those of its neighbours") {
  const SampleGraph nodes = pair_of_nodes();
  const graph::Graph graph = graph_of(
      "    - {name: x, type: graph_conv, units: 2, aggregate: mean}\n", Shape{2, 1}, nodes);
  const auto state = state_dict_of(
      graph, weights_in({tensor("x/kernel", Shape{2, 2}), tensor("x/bias", Shape{2})}));
  CHECK(floats_of(named(state, "x.lin_r.weight")) == std::vector<float>{0, 1});
  CHECK(floats_of(named(state, "x.lin_l.weight")) == std::vector<float>{2, 3});
}

TEST_CASE("Modules are renamed, or matched by the order of their numbers") {
  const graph::Graph graph = two_layers();
  std::vector<io::StoredTensor> state = small_state();
  for (io::StoredTensor& tensor : state) {
    tensor.name = (tensor.name[0] == 'a' ? "net.2" : "net.10") + tensor.name.substr(1);
  }
  const auto renamed =
      match_weights(graph, state, "test", {.renamings = {{"net.2", "a"}, {"net.10", "b"}}});
  CHECK(floats_of(named(renamed.weights, "b/bias")) == std::vector<float>{30, 31});
  // "net.10" is after "net.2", though not in the alphabet.
  const auto ordered = match_weights(graph, state, "test", {.match = MatchBy::order});
  REQUIRE(ordered.weights.size() == 4);
  for (const io::StoredTensor& weight : renamed.weights) {
    CHECK(named(ordered.weights, weight.name).bytes == weight.bytes);
  }
  // A renaming is of whole names.
  CHECK_THROWS_AS(match_weights(graph, state, "test", {.renamings = {{"net.1", "b"}}}), UsageError);
}

TEST_CASE("A class token that a model has as a parameter of its own is renamed to the layer's") {
  const graph::Graph graph = graph_of("    - {name: x, type: class_token}\n", Shape{4, 3});
  const auto tokens = {tensor("cls_token", Shape{1, 1, 3}, 7)};
  for (const char* from : {"cls_token", "vit.embeddings.cls_token"}) {
    std::vector<io::StoredTensor> state(tokens);
    state[0].name = from;

    const auto matched =
        match_weights(graph, state, "test", {.renamings = {{from, "x.cls_token"}}});

    CHECK(floats_of(named(matched.weights, "x/token")) == std::vector<float>{7, 8, 9});
    CHECK(named(matched.weights, "x/token").shape == Shape{3});
  }
}

TEST_CASE("The second direction of a bidirectional module is renamed to a layer of its own") {
  const graph::Graph graph = graph_of(
      "    - {name: rnn, type: gru, units: 2}\n"
      "    - {name: back, type: gru, units: 2, reverse: true, inputs: [input]}\n"
      "    - {type: concat, axis: last, inputs: [rnn, back]}\n",
      Shape{4, 1});
  std::vector<io::StoredTensor> state;
  MatchOptions options;
  float first = 0.0F;
  for (const std::string name : {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"}) {
    const Shape shape = name == "weight_ih_l0"   ? Shape{6, 1}
                        : name == "weight_hh_l0" ? Shape{6, 2}
                                                 : Shape{6};
    state.push_back(tensor("rnn." + name, shape, first += 100.0F));
    state.push_back(tensor("rnn." + name + "_reverse", shape, first += 100.0F));
    options.renamings.emplace_back("rnn." + name + "_reverse", "back." + name + "_reverse");
  }

  const MatchedWeights matched = match_weights(graph, state, "test", options);

  CHECK(matched.missing.empty());
  CHECK(matched.unused.empty());
  CHECK(floats_of(named(matched.weights, "rnn/input_kernel")).front() == 100.0F);
  CHECK(floats_of(named(matched.weights, "back/input_kernel")).front() == 200.0F);
  CHECK(floats_of(named(matched.weights, "back/recurrent_bias")).front() == 800.0F);
}

TEST_CASE("Tensors with Zygos' own names are taken as they are, in any floating-point type") {
  const graph::Graph graph = two_layers();
  auto weights = numbered(graph);
  weights[0].dtype = DType::f64;
  weights[0].bytes.resize(6 * sizeof(double));
  const std::vector<double> values{1, 2, 3, 4, 5, 6.5};
  std::memcpy(weights[0].bytes.data(), values.data(), weights[0].bytes.size());
  const auto matched = match_weights(graph, weights, "test").weights;
  CHECK(named(matched, "a/kernel").dtype == DType::f64);
  CHECK(named(matched, "a/kernel").bytes == weights[0].bytes);
  CHECK(named(matched, "b/kernel").bytes == weights[2].bytes);
}

TEST_CASE("What does not fit is refused in one message that names every tensor") {
  const graph::Graph graph = two_layers();
  auto state = small_state();
  state[0].name = "c.weight";
  state[2] = tensor("b.weight", Shape{3, 2});
  CHECK_THROWS_MATCHES(
      match_weights(graph, state, "net.safetensors"), UsageError,
      MessageMatches(ContainsSubstring("net.safetensors does not fit the model") &&
                     ContainsSubstring("'a.weight' [3, 2] is missing") &&
                     ContainsSubstring("'c.weight' [3, 2] is of no layer") &&
                     ContainsSubstring("'b.weight' is [3, 2], the model needs [2, 3]")));
  // Another shape is refused in any case.
  CHECK_THROWS_AS(match_weights(graph, state, "test", {.partial = true}), UsageError);
}

TEST_CASE("Extents of 1 in a file make no other tensor") {
  const graph::Graph graph = two_layers();
  auto state = small_state();
  const auto plain = match_weights(graph, state, "test");
  state[1].shape = Shape{state[1].shape[0], 1, 1};
  const auto matched = match_weights(graph, state, "test");
  CHECK(named(matched.weights, "a/bias").bytes == named(plain.weights, "a/bias").bytes);
  CHECK(named(matched.weights, "a/bias").shape == named(plain.weights, "a/bias").shape);
}

TEST_CASE("A part of a model is taken if asked for, and what is left is said") {
  const graph::Graph graph = two_layers();
  auto state = small_state();
  state[2].name = "head.weight";
  state[3].name = "head.bias";
  state.push_back(tensor("norm.num_batches_tracked", Shape{}));
  const auto matched = match_weights(graph, state, "test", {.partial = true});
  REQUIRE(matched.weights.size() == 2);
  CHECK(matched.missing == std::vector<std::string>{"b/kernel", "b/bias"});
  CHECK(matched.unused == std::vector<std::string>{"head.bias", "head.weight"});
  for (io::StoredTensor& tensor : state) {
    tensor.name = "other." + tensor.name;
  }
  CHECK_THROWS_MATCHES(match_weights(graph, state, "test", {.partial = true}), UsageError,
                       MessageMatches(ContainsSubstring("no tensor is of any layer")));
}

TEST_CASE("Values that are not finite, and integers, are no weights") {
  const graph::Graph graph = two_layers();
  auto state = small_state();
  const float infinite = std::numeric_limits<float>::infinity();
  std::memcpy(state[1].bytes.data() + sizeof(float), &infinite, sizeof(infinite));
  CHECK_THROWS_MATCHES(match_weights(graph, state, "test"), NumericError,
                       MessageMatches(ContainsSubstring("element 1 of 'a.bias'")));
  state = small_state();
  state[3].dtype = DType::i32;
  CHECK_THROWS_MATCHES(match_weights(graph, state, "test"), UsageError,
                       MessageMatches(ContainsSubstring("'b.bias' has elements of type i32")));
}

TEST_CASE("Numbers in names are ordered by their value") {
  const std::vector<std::string> sorted{"a", "a.2", "a.2.b", "a.002.c", "a.10", "b1", "b01x", "b2"};
  auto shuffled = sorted;
  std::ranges::reverse(shuffled);
  std::ranges::sort(shuffled, natural_less);
  CHECK(shuffled == sorted);
  CHECK_FALSE(natural_less("a", "a"));
}

TEST_CASE("The joint projection of a MultiheadAttention is a module of its own") {
  const graph::Graph graph = two_layers();
  auto state = small_state();
  state[0].name = "block.attention.in_proj_weight";
  state[1].name = "block.attention.in_proj_bias";
  state[2].name = "block.attention.out_proj.weight";
  state[3].name = "block.attention.out_proj.bias";
  MatchOptions options;
  options.renamings = {{"block.attention.in_proj", "a"}, {"block.attention.out_proj", "b"}};

  const MatchedWeights matched = match_weights(graph, state, "test", options);

  CHECK(matched.missing.empty());
  CHECK(matched.unused.empty());
  CHECK(floats_of(named(matched.weights, "a/kernel")) == std::vector<float>{0, 2, 4, 1, 3, 5});
  CHECK(floats_of(named(matched.weights, "a/bias")) == std::vector<float>{10, 11, 12});
  MatchOptions ordered;
  ordered.match = MatchBy::order;
  CHECK(floats_of(named(match_weights(graph, state, "test", ordered).weights, "b/bias")) ==
        std::vector<float>{30, 31});

  state[1].name = "block.attention.my_in_proj_bias";  // something else
  CHECK_THROWS_MATCHES(match_weights(graph, state, "test", options), UsageError,
                       MessageMatches(ContainsSubstring("'block.attention.my_in_proj_bias' [3] is "
                                                        "of no layer")));
}

}  // namespace zygos::test_state_dict
