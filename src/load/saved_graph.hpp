// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/graph/graph.hpp"
#include "zygos/io/checkpoint_store.hpp"
#include "zygos/load/deck_file.hpp"

namespace zygos::load {

/// The graph that a checkpoint's weights are of. Throws CheckpointError, deck::DeckError.
graph::Graph saved_graph(const io::Checkpoint& checkpoint, const CheckedDeck& deck);

}  // namespace zygos::load
