// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/adjacency.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace zygos {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

void require_edges(std::int64_t nodes, std::span<const std::int32_t> edges) {
  if (nodes < 1 || nodes > most) {
    throw UsageError("a graph of " + std::to_string(nodes) + " nodes; allowed are 1 to " +
                     std::to_string(most));
  }
  if (edges.size() % 2 != 0 || edges.size() > static_cast<std::size_t>(most)) {
    throw UsageError(
        "a list of " + std::to_string(edges.size()) +
        " numbers is not a list of edges; it must have two for each edge, and at most " +
        std::to_string(most));
  }
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (edges[i] < 0 || edges[i] >= nodes) {
      throw UsageError("edge " + std::to_string(i / 2) + " has node " + std::to_string(edges[i]) +
                       "; the graph has nodes 0 to " + std::to_string(nodes - 1));
    }
  }
}

/// Sorts every list and takes out what is there twice.
void tidy(Adjacency& graph) {
  std::int32_t kept = 0;
  std::int32_t begin = 0;
  for (std::size_t row = 0; row + 1 < graph.offsets.size(); ++row) {
    const std::int32_t end = graph.offsets[row + 1];
    const auto first = graph.neighbours.begin() + begin;
    std::sort(first, graph.neighbours.begin() + end);
    const auto last = std::unique(first, graph.neighbours.begin() + end);
    std::copy(first, last, graph.neighbours.begin() + kept);
    kept += static_cast<std::int32_t>(last - first);
    begin = end;
    graph.offsets[row + 1] = kept;
  }
  graph.neighbours.resize(static_cast<std::size_t>(kept));
}

}  // namespace

Adjacency graph_of_edges(std::int64_t nodes, std::span<const std::int32_t> edges) {
  require_edges(nodes, edges);
  Adjacency graph{nodes, nodes, {}, {}};
  graph.offsets.assign(static_cast<std::size_t>(nodes) + 1, 0);
  const auto each = [&](const auto& f) {
    for (std::size_t i = 0; i + 1 < edges.size(); i += 2) {
      if (edges[i] != edges[i + 1]) {
        f(static_cast<std::size_t>(edges[i]), edges[i + 1]);
        f(static_cast<std::size_t>(edges[i + 1]), edges[i]);
      }
    }
  };
  each([&](std::size_t node, std::int32_t) { ++graph.offsets[node + 1]; });
  for (std::size_t row = 1; row < graph.offsets.size(); ++row) {
    graph.offsets[row] += graph.offsets[row - 1];
  }
  graph.neighbours.resize(static_cast<std::size_t>(graph.offsets.back()));
  std::vector<std::int32_t> next(graph.offsets.begin(), graph.offsets.end() - 1);
  each([&](std::size_t node, std::int32_t neighbour) {
    graph.neighbours[static_cast<std::size_t>(next[node]++)] = neighbour;
  });
  tidy(graph);
  return graph;
}

Adjacency sampled_tree(std::span<const std::int64_t> fan_out) {
  if (fan_out.empty()) {
    throw UsageError("a tree of sampled neighbours without a fan-out; give at least one");
  }
  Adjacency tree;
  tree.offsets = {0};
  std::int64_t level = 1;
  tree.columns = 1;
  for (const std::int64_t children : fan_out) {
    if (children < 1 || children > most || level * children > most - tree.columns) {
      throw UsageError("a fan-out of " + std::to_string(children) +
                       "; it must be at least 1, and a tree has at most " + std::to_string(most) +
                       " nodes");
    }
    tree.rows += level;
    for (std::int64_t node = 0; node < level; ++node) {
      for (std::int64_t child = 0; child < children; ++child) {
        tree.neighbours.push_back(static_cast<std::int32_t>(tree.columns++));
      }
      tree.offsets.push_back(static_cast<std::int32_t>(tree.columns - 1));
    }
    level *= children;
  }
  return tree;
}

}  // namespace zygos
