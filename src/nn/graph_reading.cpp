// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/graph_reading.hpp"

#include "nn/sparse_matrix.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace zygos::nn {
namespace {

using Options = std::vector<std::pair<std::string, std::string>>;

/// A matrix that is multiplied with from the left. `of_node`: rows for each node, 1 or, with the
/// node itself beside the mean of its neighbours, 2.
struct Gathering {
  std::vector<double> elements;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t of_node = 1;

  std::int64_t nodes() const { return rows / of_node; }
  /// Whether a node hears of another one.
  bool hears(std::int64_t node, std::int64_t other) const {
    const std::int64_t row = of_node * node + of_node - 1;
    return node != other && elements[static_cast<std::size_t>(row * columns + other)] != 0.0;
  }
};

bool is_matrix_of(const Adjacency& graph, const Gathering& given) {
  const SparseMatrix matrix = given.of_node == 2 ? self_and_mean(graph) : normalised(graph);
  if (matrix.rows != given.rows || matrix.columns != given.columns) {
    return false;
  }
  const std::vector<double> elements = dense_elements(matrix);
  return std::ranges::equal(elements, given.elements,
                            [](double one, double other) { return std::abs(one - other) <= 1e-6; });
}

std::string yaml_list(const auto& numbers) {
  std::string text;
  for (const auto number : numbers) {
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  }
  return "[" + text + "]";
}

std::optional<Options> options_of_graph(const Gathering& given) {
  std::vector<std::int32_t> edges;
  for (std::int64_t node = 0; node < given.columns; ++node) {
    for (std::int64_t other = node + 1; other < given.columns; ++other) {
      if (given.hears(node, other)) {
        edges.push_back(static_cast<std::int32_t>(node));
        edges.push_back(static_cast<std::int32_t>(other));
      }
    }
  }
  if (!is_matrix_of(graph_of_edges(given.columns, edges), given)) {
    return std::nullopt;
  }
  return Options{{"nodes", std::to_string(given.columns)}, {"edges", yaml_list(edges)}};
}

/// Nodes lie level by level, and all nodes of a level have as many children.
std::optional<Options> options_of_tree(const Gathering& given) {
  std::vector<std::int64_t> fan_out;
  std::int64_t on_level = 1;
  for (std::int64_t first = 0; first < given.nodes();) {
    std::int64_t children = 0;
    for (std::int64_t other = 0; other < given.columns; ++other) {
      children += given.hears(first, other) ? 1 : 0;
    }
    if (children == 0) {
      return std::nullopt;
    }
    fan_out.push_back(children);
    first += on_level;
    on_level *= children;
  }
  if (!is_matrix_of(sampled_tree(fan_out), given)) {
    return std::nullopt;
  }
  return Options{{"fan_out", yaml_list(fan_out)}};
}

/// (gathering matrix x) W + b.
struct GraphProduct {
  const OnnxConstant* matrix = nullptr;
  const OnnxConstant* kernel = nullptr;
  const OnnxConstant* bias = nullptr;
  std::string nodes;  ///< the tensor x
};

std::optional<GraphProduct> graph_conv_at(OnnxSource& source, const OnnxOperator& op) {
  GraphProduct found;
  const OnnxOperator* product = &op;
  if (op.type == "Add") {
    const auto operands = onnx_with_constant(source, op);
    product = operands ? source.inner(operands->computed, "MatMul") : nullptr;
    found.bias = operands ? operands->constant : nullptr;
  }
  found.kernel = product != nullptr ? source.constant(product->input(1)) : nullptr;
  if (found.kernel == nullptr || found.kernel->shape.rank() != 2) {
    return std::nullopt;
  }
  const OnnxOperator* gather = source.maker(product->input(0));
  if (gather != nullptr && gather->type == "Reshape") {
    gather = source.maker(gather->input(0));
  }
  if (gather == nullptr || gather->type != "MatMul") {
    return std::nullopt;
  }
  found.matrix = source.constant(gather->input(0));
  found.nodes = gather->input(1);
  return found.matrix != nullptr && found.matrix->shape.rank() == 2 ? std::optional(found)
                                                                    : std::nullopt;
}

Options options_of(const Gathering& given) {
  const bool known = given.of_node <= 2 && given.rows % given.of_node == 0;
  const auto options = !known                           ? std::nullopt
                       : given.nodes() == given.columns ? options_of_graph(given)
                                                        : options_of_tree(given);
  if (!options) {
    throw UsageError("the matrix [" + std::to_string(given.rows) + ", " +
                     std::to_string(given.columns) +
                     "] that it multiplies with from the left is of no graph_conv: neither a "
                     "graph's, as GCN or GraphSAGE have it, nor a tree's");
  }
  return *options;
}

}  // namespace

std::optional<OnnxLayer> read_graph_conv(OnnxSource& source, const OnnxOperator& op) {
  const auto found = graph_conv_at(source, op);
  if (!found) {
    return std::nullopt;
  }
  const Shape nodes = source.value(found->nodes).shape.without_leading();
  const Shape& kernel = found->kernel->shape;
  Gathering given{found->matrix->numbers(), found->matrix->shape[0], found->matrix->shape[1]};
  if (nodes.rank() != 2 || nodes[0] != given.columns || kernel[0] % nodes[1] != 0) {
    return std::nullopt;
  }
  given.of_node = kernel[0] / nodes[1];
  OnnxLayer layer{.inputs = {{found->nodes, nodes}},
                  .options = {{"units", std::to_string(kernel[1])}},
                  .parameters = {*found->kernel}};
  if (given.of_node == 2) {
    layer.options.emplace_back("aggregate", "mean");
  }
  if (found->bias != nullptr) {
    layer.parameters.push_back(onnx_along_last(*found->bias, kernel[1]));
  } else {
    layer.options.emplace_back("bias", "false");
  }
  const Options of_graph = options_of(given);
  layer.options.insert(layer.options.end(), of_graph.begin(), of_graph.end());
  return layer;
}

}  // namespace zygos::nn
