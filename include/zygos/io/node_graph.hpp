// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// One graph whose nodes have features and labels, and the data sets that are made of it: samples
// that are the whole graph, or trees of sampled neighbours.
#pragma once

#include "zygos/io/dataset.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace zygos::io {

struct NodeGraph {
  std::string name;  ///< for messages
  std::shared_ptr<const Adjacency> edges;
  Array features;                      ///< (nodes, F) f32 or f64
  Array labels;                        ///< (nodes) i32, from 0 to classes - 1
  std::vector<std::uint8_t> training;  ///< by node: trained on, or evaluated on
  std::int64_t classes = 0;
};

/// Which of the nodes have valid labels.
enum class Nodes { training, test };

/// One sample, the graph: inputs (1, nodes, F), which share their bytes with the features, and
/// labels (1, nodes), ignored_label for the other nodes. Throws DataError if there is no such node.
Dataset whole_graph(const NodeGraph& graph, Nodes which);

struct TreeOptions {
  std::vector<std::int64_t> fan_out;  ///< children of a node on each level, the root first
  std::int64_t draws = 1;             ///< trees of every node
  std::uint64_t seed = 1;
};

/// A sample for every one of the nodes, `draws` times: the tree of sampled neighbours around it
/// (Hamilton, Ying and Leskovec, "Inductive representation learning on large graphs", NIPS 2017,
/// algorithm 2), inputs (samples, nodes of the tree, F) in the order of sampled_tree(), labels
/// (samples). A child is one of the parent's neighbours, each as likely, drawn with replacement; a
/// node without neighbours is its own child. What is drawn depends on seed, node, draw and place in
/// the tree alone. Throws DataError if there is no such node, UsageError for options out of range,
/// MemoryError.
Dataset sampled_trees(const NodeGraph& graph, Nodes which, const TreeOptions& options);

/// A graph in an HDF5 file: data sets `edges` (E, 2), whole numbers below the number of nodes,
/// `features` (N, F) of floating point numbers, `labels` (N) of whole numbers, and `training` (N),
/// which is not zero for nodes that are trained on. `classes` 0: the largest label + 1. Throws what
/// read_hdf5 throws, and DataError for counts that differ, nodes and labels out of range, NaN and
/// infinity.
NodeGraph load_node_graph(const std::filesystem::path& file, std::int64_t classes = 0);

}  // namespace zygos::io
