// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/node_graph.hpp"

#include <cstdint>

namespace zygos::synthetic {

/// A graph with hubs and communities: a stochastic block model with corrected degrees (Karrer and
/// Newman, "Stochastic blockmodels and community structure in networks", 2011). An end of an edge
/// is node i with a probability as 1 / sqrt(i + 1), so that degrees d are as frequent as d^-3, as
/// in grown networks (Barabasi and Albert, 1999); the other end, with probability `homophily`, is
/// drawn from the same community in the same way, else from all nodes. Communities are the labels,
/// node i's is i modulo their number. Features are the community's point in [-1, 1)^F plus noise:
/// the sum of four numbers uniform in [-noise, noise).
struct PowerLawGraphOptions {
  std::int64_t nodes = 2000;   ///< 2 to 2^31 - 1
  double mean_degree = 10.0;   ///< above 0, at most 1000; edges drawn twice and loops count once or
                               ///< not at all, so that a graph has a little less
  std::int64_t classes = 8;    ///< 2 to the number of nodes
  std::int64_t features = 32;  ///< 1 to 65536
  double homophily = 0.8;      ///< 0 to 1
  double noise = 2.0;          ///< 0 to 100
  double training = 0.5;       ///< share of the nodes that is trained on, drawn node by node
  std::uint64_t seed = 1;
};

/// The same bits on every machine. Throws UsageError for options out of range.
io::NodeGraph make_power_law_graph(const PowerLawGraphOptions& options);

}  // namespace zygos::synthetic
