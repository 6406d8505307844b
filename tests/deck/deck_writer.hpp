// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a deck that uses every key of a schema, one key a line, and remembers where each stands.
#pragma once

#include "zygos/deck/schema.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace zygos::test {

/// A key as it was written.
struct WrittenKey {
  deck::KeyFacts facts;
  std::size_t line = 0;         ///< counted from 0
  std::size_t end = 0;          ///< first line that does not belong to the key
  std::size_t column = 0;       ///< of the key, counted from 0
  std::size_t parent_line = 0;  ///< of the key of the section it is in, or its first line
  std::size_t parent_column = 0;
  bool first_of_element = false;  ///< stands behind the "- " of a list's element

  /// Column of the value on the key's line, counted from 0.
  std::size_t value_column() const { return column + facts.name.size() + 2; }
};

class DeckWriter {
 public:
  /// Of a table of variants the schema number `which` is written, of a list of variants all.
  DeckWriter(const deck::Schema& schema, std::size_t which);

  const std::vector<std::string>& lines() const { return lines_; }
  const std::vector<WrittenKey>& keys() const { return keys_; }
  static std::string text_of(const std::vector<std::string>& lines);

 private:
  void write_keys(const deck::Schema& schema, std::size_t indent, std::size_t parent);
  void write_key(const deck::KeyFacts& facts, std::size_t indent, std::size_t parent,
                 bool first_of_element);
  void write_block(const deck::KeyFacts& facts, std::size_t indent, std::size_t self);
  void write_element(const deck::KeyFacts& facts, const deck::Schema& schema, std::size_t indent);
  const deck::Schema& chosen(const deck::KeyFacts& facts) const;

  std::size_t which_;
  std::size_t elements_ = 0;
  std::string naming_key_;
  std::vector<std::string> lines_;
  std::vector<WrittenKey> keys_;
};

}  // namespace zygos::test
