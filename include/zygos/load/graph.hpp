// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/deck/run_schema.hpp"
#include "zygos/graph/graph.hpp"
#include "zygos/io/dataset.hpp"

namespace zygos::load {

/// The graph of the deck's model for these samples. A layer that refuses its shapes becomes a
/// finding at the layer's line.
graph::Graph build_model(const deck::RunSpec& spec, const io::Dataset& data,
                         deck::Findings findings);

/// The same for samples of this shape, whatever their targets. `of_data`: what connects the nodes
/// that samples consist of, for layers that work on graphs.
graph::Graph build_model(const deck::RunSpec& spec, const Shape& sample, const SampleGraph& of_data,
                         deck::Findings findings);

}  // namespace zygos::load
