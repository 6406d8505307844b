// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A deck and what it includes as one tree. A file that is included lies below the deck's own keys;
// of several the later ones lie above the earlier ones, and each may include others.
#pragma once

#include "deck/read/node.hpp"

#include "zygos/deck/findings.hpp"
#include "zygos/deck/schema.hpp"

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace zygos::deck {

inline constexpr std::size_t max_included_files = 100;

struct DeckTree {
  std::optional<Node> root;                    ///< nothing if a file has a syntax error
  std::vector<std::filesystem::path> folders;  ///< of each file, by Position::file
};

/// `file` is the name of the text, which `findings` knows already; files that it includes are added
/// there. Without a key `include` in the schema nothing is included.
DeckTree read_deck_tree(std::string_view text, const std::filesystem::path& file,
                        const Schema& schema, Findings& findings);

}  // namespace zygos::deck
