// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/graph_data.hpp"

namespace zygos::deck {
namespace {

void add_sampling(Schema& schema) {
  schema
      .integers("fan_out",
                "Fan-out of neighbour sampling: samples are trees of neighbours drawn around "
                "nodes, with so many children of a node on each level, the root first. Default: "
                "one sample, the whole graph.")
      .in_range(1, 1e6)
      .length(1, 16)
      .or_single()
      .optional()
      .example("[10, 5]");
  schema.integer("draws", "Number of trees of every node that is trained on, with fan_out.")
      .in_range(1, 1e6)
      .fallback(1);
  schema.integer("seed", "Random seed of what is drawn; independent of the run's.")
      .at_least(0)
      .fallback(1);
}

}  // namespace

Schema graph_schema() {
  Schema schema("graph", "A graph whose nodes have features and labels, in an HDF5 file.");
  schema
      .path("file",
            "HDF5 file with data sets `edges` (edges, 2), `features` (nodes, features), `labels` "
            "(nodes) and `training` (nodes), not zero for nodes that are trained on; the others "
            "are evaluated on.")
      .required()
      .example("data/cora.h5");
  schema.integer("classes", "Number of classes (labels); auto: the largest label + 1.")
      .in_range(2, 1e6)
      .or_word("auto")
      .fallback("auto");
  add_sampling(schema);
  return schema;
}

Schema power_law_graph_schema() {
  Schema schema("power_law_graph",
                "Synthetic graph with hubs and communities, which are its labels; needs no file.");
  schema.integer("nodes", "Number of nodes.").in_range(2, 1e8).fallback(2000);
  schema.real("mean_degree", "Mean degree (number of neighbours); edges drawn twice count once.")
      .above(0)
      .at_most(1000)
      .fallback(10.0);
  schema.integer("classes", "Number of classes (communities).").in_range(2, 1e6).fallback(8);
  schema.integer("features", "Number of features of a node.").in_range(1, 65536).fallback(32);
  schema
      .real("homophily",
            "Homophily: probability that an edge ends in its own community; else it may end "
            "anywhere.")
      .in_range(0, 1)
      .fallback(0.8);
  schema
      .real("noise",
            "Noise amplitude: features are the community's point in [-1, 1)^features plus four "
            "numbers uniform in [-noise, noise).")
      .in_range(0, 100)
      .fallback(2.0);
  schema
      .real("training",
            "Training split: share of the nodes that is trained on; the others are evaluated on.")
      .above(0)
      .below(1)
      .fallback(0.5);
  add_sampling(schema);
  return schema;
}

GraphSpec graph_spec_of(const Section& section) {
  GraphSpec spec;
  if (section.has("fan_out")) {
    spec.fan_out = section.integers("fan_out");
  }
  spec.draws = section.integer("draws");
  spec.seed = static_cast<std::uint64_t>(section.integer("seed"));
  if (section.text("format") == "graph") {
    spec.file = section.path("file");
    spec.file_position = section.position("file");
    spec.classes = section.is_word("classes", "auto") ? 0 : section.integer("classes");
    return spec;
  }
  spec.nodes = section.integer("nodes");
  spec.mean_degree = section.real("mean_degree");
  spec.classes = section.integer("classes");
  spec.features = section.integer("features");
  spec.homophily = section.real("homophily");
  spec.noise = section.real("noise");
  spec.training = section.real("training");
  return spec;
}

}  // namespace zygos::deck
