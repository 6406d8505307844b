// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A deck's text as a tree whose every node knows where it stands.
#pragma once

#include "zygos/deck/findings.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::deck {

struct Entry;

struct Node {
  enum class Kind : std::uint8_t { null, scalar, sequence, map };
  Kind kind = Kind::null;
  Position where;
  std::string text;            ///< scalar
  bool quoted = false;         ///< scalar in quotes: a text whatever it looks like
  std::vector<Node> items;     ///< sequence
  std::vector<Entry> entries;  ///< map, in the order of the text

  const Entry* find(std::string_view key) const;
};

struct Entry {
  std::string key;
  Position where;  ///< of the key
  Node value;
};

struct Document {
  std::string name;              ///< as given, for messages
  std::filesystem::path folder;  ///< relative paths in the deck start here
  Node root;
};

/// Limits no honest deck meets.
inline constexpr std::size_t most_bytes = std::size_t{4} << 20;
inline constexpr std::size_t most_depth = 64;
inline constexpr std::size_t most_nodes = 200000;

/// Reads a deck. Syntax errors, duplicate keys, aliases, anchors, tags, a second document and texts
/// over the limits become findings. Throws UsageError if the file can't be read.
Document read_file(const std::filesystem::path& path, Findings& findings);
Document read_text(std::string name, std::string_view text, Findings& findings);

/// Applies "key.path=value", as given after the deck on the command line; `number` counts such
/// arguments from 1. A part of the path is a key, the index of a list item, or the name of one (an
/// item's `name`). Values are YAML scalars or flow collections.
void apply_override(Document& document, const std::string& text, int number, Findings& findings);

}  // namespace zygos::deck
