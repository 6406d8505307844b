// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/synthetic/power_law_graph.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace zygos::test_power_law_graph {
namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using zygos::Adjacency;
using zygos::Shape;
using zygos::io::NodeGraph;
using zygos::synthetic::make_power_law_graph;

double nodes_with(const Adjacency& graph, std::size_t degree) {
  double count = 0.0;
  for (std::int64_t node = 0; node < graph.rows; ++node) {
    count += graph.of(node).size() >= degree ? 1.0 : 0.0;
  }
  return count;
}

}  // namespace

TEST_CASE("A power-law graph has hubs: four times the degree, a sixteenth of the nodes") {
  const NodeGraph graph = make_power_law_graph({.nodes = 40000, .mean_degree = 8.0});
  const Adjacency& edges = *graph.edges;

  CHECK(static_cast<double>(edges.neighbours.size()) / 40000.0 == Approx(8.0).epsilon(0.06));
  const double many = nodes_with(edges, 16);
  const double most = nodes_with(edges, 64);
  CHECK(many / most == Approx(16.0).epsilon(0.3));
  CHECK(nodes_with(edges, 300) > 4.0);
  CHECK(nodes_with(edges, 1) < 40000.0);  // some are alone
}

TEST_CASE("Edges of a power-law graph end in their community as often as they are told to") {
  for (const double homophily : {0.0, 0.5, 1.0}) {
    const NodeGraph graph = make_power_law_graph({.nodes = 5000, .homophily = homophily});
    const auto labels = graph.labels.as<std::int32_t>();
    double within = 0.0;
    for (std::int64_t node = 0; node < 5000; ++node) {
      for (const std::int32_t other : graph.edges->of(node)) {
        within += labels[static_cast<std::size_t>(node)] == labels[static_cast<std::size_t>(other)];
      }
    }
    const double share = within / static_cast<double>(graph.edges->neighbours.size());
    CHECK(share == Approx(homophily + (1.0 - homophily) / 8.0).margin(0.04));
  }
}

TEST_CASE("Features of a power-law graph are the community's and noise") {
  const NodeGraph exact =
      make_power_law_graph({.nodes = 30, .classes = 3, .features = 5, .noise = 0.0});
  const NodeGraph noisy =
      make_power_law_graph({.nodes = 30, .classes = 3, .features = 5, .noise = 0.5});
  const auto features = exact.features.as<float>();
  const auto drawn = noisy.features.as<float>();

  CHECK(exact.features.shape == Shape{30, 5});
  for (std::size_t i = 0; i < 15; ++i) {
    CHECK(std::abs(features[i]) <= 1.0F);
    CHECK(features[i] == features[i + 15]);
  }
  CHECK(features[0] != features[5]);
  double square = 0.0;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const double noise = static_cast<double>(drawn[i]) - static_cast<double>(features[i]);
    CHECK(std::abs(noise) <= 2.0);
    square += noise * noise / static_cast<double>(features.size());
  }
  CHECK(square == Approx(4.0 * 0.25 / 3.0).epsilon(0.3));
}

TEST_CASE("A power-law graph depends on its seed and nothing else") {
  const NodeGraph graph = make_power_law_graph({.nodes = 500});
  const NodeGraph again = make_power_law_graph({.nodes = 500});
  const NodeGraph other = make_power_law_graph({.nodes = 500, .seed = 2});

  CHECK(graph.edges->neighbours == again.edges->neighbours);
  CHECK(graph.training == again.training);
  CHECK(std::ranges::equal(graph.features.as<float>(), again.features.as<float>()));
  CHECK(graph.edges->neighbours != other.edges->neighbours);
  CHECK(graph.training != other.training);
  CHECK_FALSE(std::ranges::equal(graph.features.as<float>(), other.features.as<float>()));
  CHECK(static_cast<double>(std::ranges::count(graph.training, 1)) == Approx(250.0).margin(40.0));
  // The same on every machine.
  CHECK(graph.edges->of(499).size() == 4);
}

TEST_CASE("A power-law graph refuses what it can't draw") {
  CHECK_THROWS_WITH(make_power_law_graph({.nodes = 1}), ContainsSubstring("nodes is 1"));
  CHECK_THROWS_WITH(make_power_law_graph({.nodes = 5, .classes = 6}),
                    ContainsSubstring("classes is 6; it must be from 2 to 5"));
  CHECK_THROWS_WITH(make_power_law_graph({.mean_degree = 0.0}), ContainsSubstring("mean_degree"));
  CHECK_THROWS_WITH(make_power_law_graph({.features = 0}), ContainsSubstring("features is 0"));
  CHECK_THROWS_WITH(make_power_law_graph({.homophily = 1.5}), ContainsSubstring("in [0, 1]"));
  CHECK_THROWS_WITH(make_power_law_graph({.noise = std::nan("")}), ContainsSubstring("noise"));
  CHECK_THROWS_WITH(make_power_law_graph({.training = 1.0}), ContainsSubstring("training"));
}

}  // namespace zygos::test_power_law_graph
