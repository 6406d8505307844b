// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "load/graph_data.hpp"

#include "zygos/synthetic/power_law_graph.hpp"

#include <algorithm>

namespace zygos::load {
namespace {

io::NodeGraph graph_of(const deck::DataSpec& data) {
  const deck::GraphSpec& spec = data.graph;
  if (data.format == deck::DataFormat::graph) {
    return io::load_node_graph(spec.file, spec.classes);
  }
  return synthetic::make_power_law_graph({.nodes = spec.nodes,
                                          .mean_degree = spec.mean_degree,
                                          .classes = spec.classes,
                                          .features = spec.features,
                                          .homophily = spec.homophily,
                                          .noise = spec.noise,
                                          .training = spec.training,
                                          .seed = spec.seed});
}

}  // namespace

bool samples_are_graphs(const deck::DataSpec& spec) {
  return spec.format == deck::DataFormat::graph || spec.format == deck::DataFormat::power_law_graph;
}

RunData load_graph(const deck::DataSpec& spec) {
  const io::NodeGraph graph = graph_of(spec);
  const auto samples = [&](io::Nodes which, std::int64_t draws) {
    return spec.graph.fan_out.empty()
               ? io::whole_graph(graph, which)
               : io::sampled_trees(
                     graph, which,
                     {.fan_out = spec.graph.fan_out, .draws = draws, .seed = spec.graph.seed});
  };
  RunData data{samples(io::Nodes::training, spec.graph.draws), std::nullopt};
  if (std::ranges::find(graph.training, 0) != graph.training.end()) {
    data.test = samples(io::Nodes::test, 1);
  }
  return data;
}

}  // namespace zygos::load
