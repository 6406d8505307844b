// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/deck/schema.hpp"

#include <vector>

namespace zygos::deck {

/// What modules above contribute to the schema of a run; the deck itself knows no layer.
struct RunTables {
  std::vector<Schema> layers;
  std::vector<Schema> losses;
  std::vector<Schema> optimizers;
  std::vector<Schema> policies;
};

/// Top level: deck_version, name, seed, precision, data, model, optimizer, lanes, policy, train,
/// checkpoint. See docs/decks.md, which is generated from it.
Schema run_schema(const RunTables& tables);

}  // namespace zygos::deck
