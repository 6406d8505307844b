// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "infer/chains.hpp"

#include "ops/mlp/mlp.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace zygos::infer {
namespace {

std::optional<nn::DenseForm> small_dense_form(const graph::Node& node) {
  const auto form = node.layer->dense_form(node.input_shapes);
  return form && std::max(form->inputs, form->outputs) <= ops::max_mlp_width ? form : std::nullopt;
}

/// How many nodes read the output of each.
std::vector<int> readers_of(const graph::Graph& graph) {
  std::vector<int> readers(graph.nodes().size(), 0);
  for (const graph::Node& node : graph.nodes()) {
    for (const graph::NodeId input : node.inputs) {
      if (input != graph::graph_input) {
        ++readers[static_cast<std::size_t>(input)];
      }
    }
  }
  return readers;
}

}  // namespace

std::vector<Chain> chains_of(const graph::Graph& graph, DType dtype) {
  std::vector<Chain> chains;
  if (dtype == DType::bf16) {
    return chains;  // products of bf16 have kernels of their own
  }
  const std::vector<int> readers = readers_of(graph);
  Chain chain{0, {}};
  const auto end = [&] {
    if (chain.layers.size() > 1) {
      chains.push_back(std::move(chain));
    }
    chain = {0, {}};
  };
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const graph::Node& node = graph.nodes()[i];
    const auto form = small_dense_form(node);
    const bool follows = i > 0 && node.inputs.front() == static_cast<graph::NodeId>(i) - 1 &&
                         readers[i - 1] == 1 && chain.layers.size() < ops::max_mlp_layers;
    if (!form || !follows) {
      end();
    }
    if (form) {
      chain.first = chain.layers.empty() ? i : chain.first;
      chain.layers.push_back(*form);
    }
  }
  end();
  return chains;
}

}  // namespace zygos::infer
