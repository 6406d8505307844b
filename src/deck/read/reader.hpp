// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// YAML text to nodes. A deck is a plain tree: aliases, anchors, tags, duplicate keys, more than one
// document and anything oversized are refused, because each of them hides what a run will do.
#pragma once

#include "deck/read/node.hpp"

#include "zygos/deck/findings.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace zygos::deck {

inline constexpr std::size_t max_deck_bytes = std::size_t{4} << 20;
inline constexpr std::size_t max_depth = 64;
inline constexpr std::size_t max_nodes = 200'000;

/// Where the first character of the text stands.
struct TextPlace {
  Origin origin = Origin::deck;
  std::size_t column = 1;
  std::size_t file = 0;  ///< see Position
};

/// The text without carriage returns; nothing, and a finding, if it is too
/// large or is no UTF-8 text.
std::optional<std::string> clean_text(std::string_view text, Findings& findings,
                                      std::size_t file = 0);

/// The root of a cleaned text, null for an empty one; nothing after a syntax error. What was found
/// goes to `findings`. ${name} is text, also where YAML would take the braces for a section.
std::optional<Node> read_yaml(const std::string& text, Findings& findings, TextPlace place = {});

}  // namespace zygos::deck
