// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deck/read/node.hpp"

#include "zygos/deck/schema.hpp"

namespace zygos::deck {

/// The default of a key as if it stood in the deck, all of it at one place.
Node fallback_node(const KeyFacts& facts, const Position& position);

}  // namespace zygos::deck
