// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The structure of graphs, by rows as in a sparse matrix without values. Data sets know it, and
// layers make their matrices of it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace zygos {

/// The neighbours of nodes 0 to rows - 1, each list ascending and without repetition. They are
/// nodes 0 to columns - 1; the first `rows` of these are the nodes that have lists. Graphs have as
/// many rows as columns; what some nodes hear of all others (a "block" of neighbour sampling) has
/// fewer.
struct Adjacency {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::int32_t> offsets;     ///< (rows + 1): where lists begin
  std::vector<std::int32_t> neighbours;  ///< all lists, one behind the other

  std::span<const std::int32_t> of(std::int64_t node) const {
    const auto row = static_cast<std::size_t>(node);
    return std::span(neighbours)
        .subspan(static_cast<std::size_t>(offsets[row]),
                 static_cast<std::size_t>(offsets[row + 1] - offsets[row]));
  }
};

/// The undirected graph of `nodes` nodes with these edges, two numbers each: both of their nodes
/// are neighbours of each other. What is said twice counts once; a node is no neighbour of its own.
/// Throws UsageError for an edge that has no two nodes in the graph, and for more lists than 2^31 -
/// 1 numbers.
Adjacency graph_of_edges(std::int64_t nodes, std::span<const std::int32_t> edges);

/// What neighbour sampling gathers around a node (Hamilton, Ying and Leskovec, "Inductive
/// representation learning on large graphs", NIPS 2017): a tree in the order of its levels, in
/// which each node of level d has fan_out[d] children. All nodes but the leaves have lists: their
/// children. Throws UsageError for a fan-out below 1, none at all, or more than 2^31 - 1 nodes.
Adjacency sampled_tree(std::span<const std::int64_t> fan_out);

/// What a data set says of the structure of its samples: a graph that all of them share, fan-outs
/// of the trees that they are, or nothing.
struct SampleGraph {
  std::shared_ptr<const Adjacency> whole;
  std::vector<std::int64_t> fan_out;
};

}  // namespace zygos
