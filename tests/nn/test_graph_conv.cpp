// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/gradient_check.hpp"

#include "zygos/core/error.hpp"
#include "zygos/nn/layers.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace zygos::nn::test_graph_conv {
namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using testing::check_layer_gradients;
using testing::LayerRun;
using testing::random_integer;
using testing::values_of;

SampleGraph graph_with(std::int64_t nodes, const std::vector<std::int32_t>& edges) {
  return {std::make_shared<const Adjacency>(graph_of_edges(nodes, edges)), {}};
}

/// Hubs, and nodes that have no neighbour.
SampleGraph drawn_graph(std::int64_t nodes, std::int64_t count, std::uint64_t draw) {
  std::vector<std::int32_t> edges;
  for (std::int64_t i = 0; i < 2 * count; ++i) {
    const auto bound = i % 2 == 0 ? nodes - 1 : (nodes - 1) / 3;
    edges.push_back(
        static_cast<std::int32_t>(random_integer(0, bound, draw, static_cast<std::uint32_t>(i))));
  }
  return graph_with(nodes, edges);
}

void put(const Tensor& tensor, const std::vector<double>& values) {
  REQUIRE(static_cast<std::size_t>(tensor.size()) == values.size());
  std::ranges::copy(values, tensor.data<double>());
}

/// y of the tensor formulas: the dense matrix, every element of it looked up.
std::vector<double> gcn_by_hand(const Adjacency& graph, const std::vector<double>& x,
                                std::int64_t features) {
  const auto entry = [&](std::int64_t i, std::int64_t j) {
    const auto mine = graph.of(i);
    const bool there = i == j || std::ranges::find(mine, j) != mine.end();
    const auto degree = [&](std::int64_t node) {
      return static_cast<double>(graph.of(node).size() + 1);
    };
    return there ? 1.0 / std::sqrt(degree(i) * degree(j)) : 0.0;
  };
  std::vector<double> y;
  for (std::int64_t i = 0; i < graph.rows; ++i) {
    for (std::int64_t f = 0; f < features; ++f) {
      double sum = 0.0;
      for (std::int64_t j = 0; j < graph.columns; ++j) {
        sum += entry(i, j) * x[static_cast<std::size_t>(j * features + f)];
      }
      y.push_back(sum);
    }
  }
  return y;
}

}  // namespace

TEST_CASE("A GCN layer of a path of three nodes, by hand") {
  // Degrees with the loops: 2, 3, 2; node 3 is alone.
  const auto layer = graph_conv({.units = 1, .graph = graph_with(4, {0, 1, 1, 2})});
  LayerRun run(layer, {Shape{4, 1}}, 1, 1);
  put(run.inputs[0], {1, 2, 3, 4});
  put(run.parameters[0], {10});
  put(run.parameters[1], {0.5});
  run.forward();
  const auto y = values_of(run.output);

  const double root = std::sqrt(6.0);
  CHECK(y[0] == Approx(10 * (1.0 / 2 + 2 / root) + 0.5));
  CHECK(y[1] == Approx(10 * (1 / root + 2.0 / 3 + 3 / root) + 0.5));
  CHECK(y[2] == Approx(10 * (2 / root + 3.0 / 2) + 0.5));
  CHECK(y[3] == Approx(40.5));
}

TEST_CASE("A mean layer sees a node and the mean over its neighbours, by hand") {
  const auto layer = graph_conv({.units = 1,
                                 .aggregate = Aggregate::mean,
                                 .graph = graph_with(4, {0, 1, 1, 2}),
                                 .bias = false});
  LayerRun run(layer, {Shape{4, 1}}, 1, 1);
  put(run.inputs[0], {1, 2, 3, 4});
  put(run.parameters[0], {10, 1});
  run.forward();

  CHECK(values_of(run.output) == std::vector<double>{12, 22, 32, 40});
}

TEST_CASE("Trees lose a level with every layer") {
  const SampleGraph tree{nullptr, {2, 3}};
  const auto layer =
      graph_conv({.units = 1, .aggregate = Aggregate::mean, .graph = tree, .bias = false});
  LayerRun both(layer, {Shape{9, 1}}, 1, 1);
  put(both.inputs[0], {1, 2, 3, 10, 20, 30, 40, 50, 60});
  put(both.parameters[0], {100, 1});
  both.forward();
  LayerRun root(layer, {Shape{3, 1}}, 1, 1);
  put(root.inputs[0], {1, 2, 4});
  put(root.parameters[0], {100, 1});
  root.forward();
  LayerRun gcn(graph_conv({.units = 1, .graph = tree, .bias = false}), {Shape{3, 1}}, 1, 1);
  put(gcn.inputs[0], {1, 2, 6});
  put(gcn.parameters[0], {2});
  gcn.forward();

  CHECK(values_of(both.output) == std::vector<double>{102.5, 220, 350});
  CHECK(values_of(root.output) == std::vector<double>{103});
  CHECK(values_of(gcn.output)[0] == Approx(6.0));
}

TEST_CASE("A GCN layer is the dense product, whichever product comes first") {
  const SampleGraph graph = drawn_graph(41, 90, 3);
  for (const std::int64_t features : {3, 29}) {
    LayerRun run(graph_conv({.units = 7, .graph = graph, .bias = false}), {Shape{41, features}}, 1,
                 9);
    run.forward();
    const auto gathered = gcn_by_hand(*graph.whole, values_of(run.inputs[0]), features);
    const auto kernel = values_of(run.parameters[0]);
    const auto y = values_of(run.output);
    for (std::size_t i = 0; i < y.size(); ++i) {
      double expected = 0.0;
      for (std::size_t f = 0; f < static_cast<std::size_t>(features); ++f) {
        expected +=
            gathered[i / 7 * static_cast<std::size_t>(features) + f] * kernel[f * 7 + i % 7];
      }
      REQUIRE(y[i] == Approx(expected).margin(1e-12));
    }
  }
}

TEST_CASE("The gradients of graph convolutions equal difference quotients") {
  for (std::uint64_t round = 0; round < 48; ++round) {
    GraphConvOptions options;
    options.units = random_integer(1, 9, round, 1);
    options.aggregate = round % 2 == 0 ? Aggregate::gcn : Aggregate::mean;
    options.bias = round % 5 != 0;
    options.activation = round % 3 == 0 ? Activation::none : Activation::tanh;
    std::int64_t nodes = random_integer(1, 12, round, 2);
    if (round % 8 < 5) {
      options.graph = drawn_graph(nodes, random_integer(0, 20, round, 3), round);
    } else {
      options.graph.fan_out = {random_integer(1, 3, round, 4), random_integer(1, 3, round, 5)};
      nodes = sampled_tree(options.graph.fan_out).columns;
    }
    const std::int64_t features = random_integer(1, 12, round, 6);
    LayerRun run(graph_conv(options), {Shape{nodes, features}}, random_integer(1, 3, round, 7),
                 round);

    CAPTURE(round, nodes, features, options.units);
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE("A graph convolution of a batch is that of each sample") {
  const auto layer = graph_conv({.units = 5, .graph = drawn_graph(17, 40, 2)});
  LayerRun all(layer, {Shape{17, 6}}, 3, 4);
  all.forward();
  const auto together = values_of(all.output);
  for (std::size_t sample = 0; sample < 3; ++sample) {
    LayerRun one(layer, {Shape{17, 6}}, 1, 4);
    const auto x = values_of(all.inputs[0]);
    put(one.inputs[0], {x.begin() + static_cast<std::ptrdiff_t>(sample * 102),
                        x.begin() + static_cast<std::ptrdiff_t>((sample + 1) * 102)});
    put(one.parameters[0], values_of(all.parameters[0]));
    put(one.parameters[1], values_of(all.parameters[1]));
    one.forward();
    const auto alone = values_of(one.output);
    for (std::size_t i = 0; i < alone.size(); ++i) {
      REQUIRE(together[sample * 85 + i] == Approx(alone[i]).margin(1e-14));
    }
  }
}

TEST_CASE("Graph convolutions have the same bits for any number of threads") {
  for (const Aggregate aggregate : {Aggregate::gcn, Aggregate::mean}) {
    const auto bits = [&](int threads) {
      const auto layer = graph_conv({.units = 24,
                                     .aggregate = aggregate,
                                     .graph = drawn_graph(700, 3000, 5),
                                     .activation = Activation::tanh});
      LayerRun run(layer, {Shape{700, 40}}, 2, 3, Kokkos::OpenMP(threads));
      run.forward();
      run.backward();
      return std::vector{values_of(run.output), values_of(run.d_inputs[0]),
                         values_of(run.d_parameters[0]), values_of(run.d_parameters[1])};
    };
    const auto one = bits(1);

    CHECK(bits(2) == one);
    CHECK(bits(3) == one);
    CHECK(bits(4) == one);
  }
}

TEST_CASE("Graph convolutions declare what they need") {
  const SampleGraph path = graph_with(4, {0, 1, 1, 2});
  const std::array wide{Shape{4, 100}};
  const std::array narrow{Shape{4, 3}};
  const auto gcn = graph_conv({.units = 8, .graph = path});
  const auto mean = graph_conv({.units = 8, .aggregate = Aggregate::mean, .graph = path});

  CHECK(gcn->infer(wide) == Shape{4, 8});
  CHECK(gcn->parameters(wide)[0].shape == Shape{100, 8});
  CHECK(mean->parameters(wide)[0].shape == Shape{200, 8});
  CHECK(gcn->workspace(2, wide, DType::f32)[0].name == "product");
  CHECK(gcn->workspace(2, narrow, DType::f32)[0].name == "gathered");
  // Symmetric: 4 loops and twice 2 edges. For the mean 4 nodes and twice 2 edges, and a transpose.
  const auto constants = gcn->constants(wide, DType::f32);
  REQUIRE(constants.size() == 3);
  CHECK(constants[0].shape == Shape{5});
  CHECK(constants[1].shape == Shape{8});
  CHECK(constants[2].dtype == DType::f32);
  REQUIRE(mean->constants(wide, DType::f64).size() == 6);
  CHECK(mean->constants(wide, DType::f64)[0].shape == Shape{9});
  CHECK(mean->constants(wide, DType::f64)[3].shape == Shape{5});
  CHECK(mean->constants(wide, DType::f64)[2].dtype == DType::f64);
  CHECK(gcn->forward_cost(2, wide, DType::f32).flops == 2.0 * (2 * 4 * 100 * 8 + 2 * 8 * 8));
  CHECK(gcn->backward_cost(2, narrow, DType::f32, false).flops == 2.0 * 2 * 4 * 3 * 8);
}

TEST_CASE("Graph convolutions refuse what they can't do") {
  const SampleGraph path = graph_with(4, {0, 1, 1, 2});
  const auto layer = graph_conv({.units = 8, .graph = path});
  const auto tree = graph_conv({.units = 8, .graph = {nullptr, {2, 3}}});

  CHECK_THROWS_WITH(graph_conv({.units = 8, .graph = {}}),
                    ContainsSubstring("neither the layer nor the data has a graph"));
  CHECK_THROWS_WITH(graph_conv({.units = 0, .graph = path}), ContainsSubstring("units is 0"));
  CHECK_THROWS_WITH(graph_conv({.units = 1, .graph = path, .activation = Activation::gelu}),
                    ContainsSubstring("put a gelu layer behind"));
  CHECK_THROWS_WITH(layer->infer(std::array{Shape{5, 3}}),
                    ContainsSubstring("the input has 5 nodes, the graph has 4"));
  CHECK_THROWS_WITH(tree->infer(std::array{Shape{5, 3}}),
                    ContainsSubstring("the input has 5 nodes, the graph has 9 or 3"));
  CHECK_THROWS_WITH(layer->infer(std::array{Shape{4}}),
                    ContainsSubstring("must be (nodes, features)"));
}

}  // namespace zygos::nn::test_graph_conv
