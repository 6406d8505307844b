// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Data sets that are graphs: their keys, and what a deck says with them.
#pragma once

#include "zygos/deck/run_schema.hpp"

namespace zygos::deck {

Schema graph_schema();
Schema power_law_graph_schema();

/// Of a section of either.
GraphSpec graph_spec_of(const Section& section);

}  // namespace zygos::deck
