// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A deck as it was written: maps, sequences and scalars with their places.
#pragma once

#include "zygos/deck/findings.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zygos::deck {

struct NodeEntry;

inline constexpr const char* written_null = "null";

struct Node {
  enum class Kind {
    null,
    scalar,
    sequence,
    map,
    broken  ///< already reported; says nothing more
  };

  Kind kind = Kind::null;
  Position position;
  std::string text;     ///< scalar; of a null that is written out: written_null
  bool quoted = false;  ///< scalar in quotes or a block scalar
  std::string via;      ///< where the scalar's variables come from: "${width} is '8' (deck.yaml:3)"
  std::optional<std::size_t>
      home;  ///< file whose folder a path starts from; none: that of position
  std::vector<Node> items;
  std::vector<NodeEntry> entries;

  bool is(Kind wanted) const noexcept { return kind == wanted; }
  /// Null if there is no such key.
  const Node* find(std::string_view key) const noexcept;
  Node* find(std::string_view key) noexcept;
};

struct NodeEntry {
  std::string key;
  Position position;  ///< of the key
  Node value;
};

Node scalar_node(std::string text, const Position& position);
/// A scalar becomes a map with the scalar as its only value.
void wrap_in_map(Node& node, std::string key);
/// The same position everywhere below.
void move_to(Node& node, const Position& position);
/// "nothing", "a list", "a section", "'text'"
std::string found_text(const Node& node);

}  // namespace zygos::deck
