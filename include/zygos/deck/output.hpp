// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What is generated from a schema, and a checked deck written back as text.
#pragma once

#include "zygos/deck/schema.hpp"
#include "zygos/deck/value.hpp"

#include <string>
#include <vector>

namespace zygos::deck {

/// JSON Schema (draft 2020-12) for editors.
std::string json_schema(const Schema& schema);
/// Type, default, range, documentation and an example of "train.batch" or
/// "model.layers.dense.units". Throws UsageError with the nearest key for one that does not exist.
std::string explain(const Schema& schema, const std::string& key_path);
/// The deck reference in Markdown.
std::string reference(const Schema& schema);

/// The deck with every default filled in, in the schema's order, each value with its origin as a
/// comment: "# default", "# deck.yaml:12", "# command line". Reads back as a deck that means the
/// same.
std::string resolved(const Section& section);

/// A value that differs between two decks.
struct Difference {
  std::string key;  ///< "optimizer.learning_rate"
  std::string before;
  std::string after;
};
/// Differences below any of `prefixes` ("model", "optimizer"), in the order of the schema; a value
/// that one side lacks reads "(none)".
std::vector<Difference> differences(const Section& before, const Section& after,
                                    const std::vector<std::string>& prefixes);

}  // namespace zygos::deck
