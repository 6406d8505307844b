// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/deck/run_schema.hpp"
#include "zygos/graph/graph.hpp"
#include "zygos/io/dataset.hpp"

namespace zygos::app {

/// The graph of the deck's model for these samples. A layer that refuses its shapes becomes a
/// finding at the layer's line.
graph::Graph build_model(const deck::RunSpec& spec, const io::Dataset& data,
                         deck::Findings findings);

}  // namespace zygos::app
