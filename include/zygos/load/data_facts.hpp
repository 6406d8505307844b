// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What checkpoints keep of the data beside the deck, so that a trained model reads and returns
// numbers as its user has them.
#pragma once

#include "zygos/core/standards.hpp"
#include "zygos/io/checkpoint_store.hpp"
#include "zygos/io/dataset.hpp"

#include <string>
#include <vector>

namespace zygos::load {

struct DataFacts {
  std::vector<std::string> input_names;  ///< of a table's columns, if it has names
  std::vector<std::string> class_names;  ///< texts of labels, if they were texts
  Standards inputs;                      ///< empty: inputs were not standardised
  Standards targets;                     ///< likewise
};

/// The fact, among those of a checkpoint, that holds them as JSON.
inline constexpr const char* data_fact = "data";

/// Adds the fact, unless there is nothing to keep.
void add_data_facts(const io::Dataset& training, io::Facts& facts);
/// Throws CheckpointError for a fact that is damaged.
DataFacts data_facts_in(const io::Facts& facts);

}  // namespace zygos::load
