// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/graph/graph.hpp"

#include <algorithm>
#include <array>

namespace zygos::graph {
namespace {

constexpr std::size_t columns = 5;
using Row = std::array<std::string, columns>;

std::string inputs_of(const Node& node, std::span<const Node> nodes) {
  std::string out;
  for (const NodeId input : node.inputs) {
    out += (out.empty() ? "" : ", ") + (input == graph_input
                                            ? std::string(input_name)
                                            : nodes[static_cast<std::size_t>(input)].name);
  }
  return out;
}

std::string table(const std::vector<Row>& rows) {
  std::array<std::size_t, columns> width{};
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < columns; ++c) {
      width[c] = std::max(width[c], row[c].size());
    }
  }
  std::string out;
  for (const Row& row : rows) {
    for (std::size_t c = 0; c + 1 < columns; ++c) {
      out += row[c] + std::string(width[c] - row[c].size() + 2, ' ');
    }
    // The numbers of the last column end at the same place.
    out += std::string(width[columns - 1] - row[columns - 1].size(), ' ') + row[columns - 1] + "\n";
  }
  return out;
}

}  // namespace

std::string Graph::text() const {
  std::vector<Row> rows{{"layer", "type", "inputs", "output", "parameters"}};
  rows.push_back({std::string(input_name), "-", "-", input_.text(), "0"});
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    std::int64_t count = 0;
    for (const Parameter& parameter : parameters_of(static_cast<NodeId>(i))) {
      count += parameter.statistic ? 0 : parameter.shape.size();
    }
    rows.push_back({node.name, std::string(node.layer->type()) + (node.frozen ? ", frozen" : ""),
                    inputs_of(node, nodes_), node.output_shape.text(), std::to_string(count)});
  }
  const std::string trained = std::ranges::any_of(nodes_, &Node::frozen)
                                  ? ", " + std::to_string(trained_count()) + " trained"
                                  : "";
  return table(rows) + "loss " + std::string(loss_->type()) + ", " +
         std::to_string(parameter_count()) + " parameters" + trained + "\n";
}

}  // namespace zygos::graph
