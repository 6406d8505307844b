// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/machine.hpp"
#include "zygos/deck/run_schema.hpp"
#include "zygos/graph/graph.hpp"
#include "zygos/io/dataset.hpp"

#include <cstdint>
#include <optional>

namespace zygos::load {

struct RunData {
  io::Dataset training;
  std::optional<io::Dataset> test;
  std::optional<io::Dataset> validation{};  ///< split off the training samples
};

/// Reads or makes what the deck's section `data` says. Throws DataError for a bad file, a deck
/// error at the key's place for a file that is not there. `most`, unless 0: enough is so many
/// training samples, and no other set. `memory`: bytes of which `data.in_memory: auto` lets samples
/// take up to a half.
RunData load_data(const deck::RunSpec& spec, deck::Findings findings, std::int64_t most = 0,
                  std::uint64_t memory = usable_memory());

/// Standardises all parts by the training samples, as the deck's `data.normalise` says: inputs, and
/// targets that the loss takes at any size.
void normalise(const deck::DataSpec& spec, const nn::Loss& loss, RunData& data);

/// Throws DataError, naming layer and sample, for a token id that a layer of the graph cannot read.
void require_tokens(const graph::Graph& graph, const io::Dataset& data);

}  // namespace zygos::load
