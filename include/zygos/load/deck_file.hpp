// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/deck/run_schema.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::load {

/// The schema of decks with every layer, loss, optimizer and policy of this build.
deck::Schema whole_schema();

/// A deck that was read and checked, as text tree and as plain values.
struct CheckedDeck {
  deck::Deck deck;
  deck::RunSpec spec;
};

/// Throws deck::DeckError with every finding.
CheckedDeck load_deck(const std::filesystem::path& file, const std::vector<std::string>& overrides);
/// The same of a deck's text; `file` is what messages call it.
CheckedDeck parse_deck(std::string_view text, const std::filesystem::path& file,
                       const std::vector<std::string>& overrides);

}  // namespace zygos::load
