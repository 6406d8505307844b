// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deck/read/node.hpp"

#include "zygos/deck/schema.hpp"

#include <string>
#include <vector>

namespace zygos::deck {

/// Sets "key.path=value" in a deck that is not yet checked; the schema tells what the parts of the
/// path mean where the deck leaves it open (defaults, bare variants, names of elements). Positions
/// count through the arguments joined with a space.
void apply_overrides(Node& root, const Schema& schema, const std::vector<std::string>& overrides,
                     Findings& findings);

}  // namespace zygos::deck
