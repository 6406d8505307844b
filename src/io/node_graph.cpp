// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/node_graph.hpp"

#include "io/checks.hpp"

#include "zygos/core/error.hpp"
#include "zygos/core/philox.hpp"
#include "zygos/io/hdf5_dataset.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace zygos::io {
namespace {

bool is_among(const NodeGraph& graph, std::size_t node, Nodes which) {
  return (graph.training[node] != 0) == (which == Nodes::training);
}

std::vector<std::int32_t> nodes_of(const NodeGraph& graph, Nodes which) {
  std::vector<std::int32_t> nodes;
  for (std::size_t node = 0; node < graph.training.size(); ++node) {
    if (is_among(graph, node, which)) {
      nodes.push_back(static_cast<std::int32_t>(node));
    }
  }
  if (nodes.empty()) {
    throw DataError(graph.name + ": no node is " +
                    (which == Nodes::training ? "trained on; mark some"
                                              : "left to evaluate on; leave some out of training"));
  }
  return nodes;
}

/// Nodes of the trees, one after the other in the order of levels.
class TreeSampler {
 public:
  TreeSampler(const Adjacency& graph, const TreeOptions& options)
      : graph_(graph), tree_(sampled_tree(options.fan_out)), seed_(options.seed) {}

  std::int64_t size() const { return tree_.columns; }

  void draw(std::int32_t root, std::int64_t number, std::vector<std::int32_t>& nodes) const {
    const RngKey key{seed_, RngPurpose::data, trees_stream};
    const std::uint64_t tree =
        (static_cast<std::uint64_t>(number) << 32) | static_cast<std::uint32_t>(root);
    nodes.assign(static_cast<std::size_t>(size()), root);
    for (std::int64_t parent = 0; parent < tree_.rows; ++parent) {
      const auto neighbours = graph_.of(nodes[static_cast<std::size_t>(parent)]);
      for (const std::int32_t child : tree_.of(parent)) {
        const std::uint64_t word = random_block(key, tree, static_cast<std::uint32_t>(child)).v[0];
        nodes[static_cast<std::size_t>(child)] =
            neighbours.empty()
                ? nodes[static_cast<std::size_t>(parent)]
                : neighbours[static_cast<std::size_t>((word * neighbours.size()) >> 32)];
      }
    }
  }

 private:
  static constexpr std::uint32_t trees_stream = 3;

  const Adjacency& graph_;
  Adjacency tree_;
  std::uint64_t seed_;
};

void require_trees(const TreeOptions& options, std::size_t nodes) {
  constexpr std::int64_t max_samples = std::numeric_limits<std::uint32_t>::max();
  if (options.draws < 1 || options.draws > max_samples / static_cast<std::int64_t>(nodes)) {
    throw UsageError("sampled trees: found " + std::to_string(options.draws) + " draws of " +
                     std::to_string(nodes) + " nodes; allowed is at least 1, and " +
                     std::to_string(max_samples) + " trees in total");
  }
}

std::string where_of(const Hdf5Location& location) {
  return location.file.string() + ": data set '" + location.dataset + "'";
}

Where element_of(const Hdf5Location& location) {
  return [where = where_of(location)](std::int64_t index) {
    return where + ", element " + std::to_string(index);
  };
}

bool has_whole_numbers(const Array& array) {
  return array.dtype != DType::f32 && array.dtype != DType::f64;
}

Array features_in(const std::filesystem::path& file) {
  const Hdf5Location location{file, "features"};
  Array features = read_hdf5(location);
  if (features.shape.rank() != 2 || has_whole_numbers(features)) {
    throw DataError(where_of(location) + ": found " + std::string(name_of(features.dtype)) + " " +
                    features.shape.text() +
                    "; features are floating point numbers (nodes, features)");
  }
  require_finite(features, element_of(location));
  return features;
}

/// One for each node, from 0 on.
Labels whole_numbers_in(const Hdf5Location& location, std::int64_t nodes, std::int64_t below) {
  const Array stored = read_hdf5(location);
  if (stored.shape != Shape{nodes} || !has_whole_numbers(stored)) {
    throw DataError(where_of(location) + ": found " + std::string(name_of(stored.dtype)) + " " +
                    stored.shape.text() + "; there must be a whole number for each of the " +
                    std::to_string(nodes) + " nodes that have features");
  }
  return to_labels(stored, below, element_of(location));
}

template <class T>
std::vector<std::int32_t> ends_of(const Array& stored, const std::string& where,
                                  std::int64_t nodes) {
  std::vector<std::int32_t> ends;
  for (const T node : stored.as<T>()) {
    if (std::cmp_less(node, 0) || std::cmp_greater_equal(node, nodes)) {
      throw DataError(where + ", element " + std::to_string(ends.size()) + ": edge " +
                      std::to_string(ends.size() / 2) + " has node " + std::to_string(node) +
                      "; there are features of nodes 0 to " + std::to_string(nodes - 1));
    }
    ends.push_back(static_cast<std::int32_t>(node));
  }
  return ends;
}

std::vector<std::int32_t> edges_of(const Array& stored, const std::string& where,
                                   std::int64_t nodes) {
  if (stored.shape.rank() == 2 && stored.shape[1] == 2) {
    switch (stored.dtype) {
      case DType::u8:
        return ends_of<std::uint8_t>(stored, where, nodes);
      case DType::i32:
        return ends_of<std::int32_t>(stored, where, nodes);
      case DType::i64:
        return ends_of<std::int64_t>(stored, where, nodes);
      case DType::u32:
        return ends_of<std::uint32_t>(stored, where, nodes);
      case DType::u64:
        return ends_of<std::uint64_t>(stored, where, nodes);
      case DType::bf16:
      case DType::f32:
      case DType::f64:
        break;
    }
  }
  throw DataError(where + ": found " + std::string(name_of(stored.dtype)) + " " +
                  stored.shape.text() + "; edges are whole numbers (edges, 2)");
}

}  // namespace

Dataset whole_graph(const NodeGraph& graph, Nodes which) {
  nodes_of(graph, which);
  std::vector<std::int32_t> labels(graph.training.size());
  const auto all = graph.labels.as<std::int32_t>();
  for (std::size_t node = 0; node < labels.size(); ++node) {
    labels[node] = is_among(graph, node, which) ? all[node] : ignored_label;
  }
  Dataset data;
  data.name = graph.name;
  data.inputs = {graph.features.dtype, graph.features.shape.with_leading(1), graph.features.data};
  data.targets = make_array<std::int32_t>(Shape{1, graph.labels.shape[0]}, labels);
  data.classes = graph.classes;
  data.graph.whole = graph.edges;
  return data;
}

Dataset sampled_trees(const NodeGraph& graph, Nodes which, const TreeOptions& options) {
  const auto nodes = nodes_of(graph, which);
  require_trees(options, nodes.size());
  const TreeSampler sampler(*graph.edges, options);
  const std::int64_t samples = options.draws * static_cast<std::int64_t>(nodes.size());
  const Shape shape{samples, sampler.size(), graph.features.shape[1]};
  const std::size_t row = graph.features.bytes() / graph.training.size();
  auto bytes = allocate_bytes(static_cast<std::size_t>(shape[0] * shape[1]) * row,
                              graph.name + ", " + std::to_string(samples) + " trees");
  const auto all = graph.labels.as<std::int32_t>();
  std::vector<std::int32_t> labels;
  std::vector<std::int32_t> tree;
  std::byte* to = bytes.get();
  for (std::int64_t draw = 0; draw < options.draws; ++draw) {
    for (const std::int32_t root : nodes) {
      sampler.draw(root, draw, tree);
      for (const std::int32_t node : tree) {
        std::memcpy(to, graph.features.data.get() + static_cast<std::size_t>(node) * row, row);
        to += row;
      }
      labels.push_back(all[static_cast<std::size_t>(root)]);
    }
  }
  Dataset data;
  data.name = graph.name;
  data.inputs = {graph.features.dtype, shape, std::move(bytes)};
  data.targets = make_array<std::int32_t>(Shape{samples}, labels);
  data.classes = graph.classes;
  data.graph.fan_out = options.fan_out;
  return data;
}

NodeGraph load_node_graph(const std::filesystem::path& file, std::int64_t classes) {
  NodeGraph graph;
  graph.name = file.filename().string();
  graph.features = features_in(file);
  const std::int64_t nodes = graph.features.shape[0];
  Labels labels = whole_numbers_in({file, "labels"}, nodes, classes);
  graph.labels = std::move(labels.array);
  graph.classes = labels.classes;
  const Labels marks = whole_numbers_in({file, "training"}, nodes, 0);
  for (const std::int32_t mark : marks.array.as<std::int32_t>()) {
    graph.training.push_back(mark != 0 ? 1 : 0);
  }
  const Hdf5Location edges{file, "edges"};
  graph.edges = std::make_shared<const Adjacency>(
      graph_of_edges(nodes, edges_of(read_hdf5(edges), where_of(edges), nodes)));
  return graph;
}

}  // namespace zygos::io
