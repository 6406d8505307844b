// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Which lane has which layers and samples, for people and for machines.
#pragma once

#include "app/run/run_setup.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace zygos::app {

/// Places in the order of their stages.
std::vector<schedule::Place> in_order_of_stages(const schedule::Schedule& schedule);

/// "host 52 + device 48 of 100 samples";
/// "fc1 to fc3 on host -> fc4 on device, 8 micro-batches of 32 samples"
std::string placement_text(const graph::Graph& graph, const schedule::Schedule& schedule);

/// "fc1 to fc3".
std::string layers_text(const graph::Graph& graph, const schedule::Schedule& schedule,
                        schedule::NodeRange nodes);

/// {"host": {"samples": 52, "layers": ["fc1", ...], "stage": 0}, ...}, active places only.
nlohmann::json placement_json(const graph::Graph& graph, const schedule::Schedule& schedule);

}  // namespace zygos::app
