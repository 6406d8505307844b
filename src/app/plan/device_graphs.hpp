// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// `device_graphs: true` of a deck: which lanes record their steps, and how a run says so.
#pragma once

#include "app/run/run_setup.hpp"

#include <string>
#include <vector>

namespace zygos::app {

struct GraphLanes {
  std::vector<std::string> with;  ///< names
  std::vector<std::string> without;
};
/// Both empty unless the deck asks for graphs.
GraphLanes graph_lanes(const RunSetup& setup);

/// "steps captured on gpu; none on host (device_graphs)"; empty without lanes.
std::string text_of(const GraphLanes& lanes);

}  // namespace zygos::app
