// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/deck/findings.hpp"
#include "zygos/deck/schema.hpp"
#include "zygos/deck/value.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::deck {

/// A deck that was read, overridden and checked.
class Deck {
 public:
  /// Reads the file, applies overrides "key.path=value" (elements of lists by index from 0 or by
  /// name) and checks everything. Throws DeckError with every finding; UsageError if the file can't
  /// be read. The file "-" is standard input, a deck of the name `stdin`.
  static Deck load(const std::filesystem::path& file, const Schema& schema,
                   const std::vector<std::string>& overrides = {});
  /// The same for a text; `file` is only a name, its folder the one that paths start from.
  static Deck parse(std::string_view text, const std::filesystem::path& file, const Schema& schema,
                    const std::vector<std::string>& overrides = {});

  const Section& root() const noexcept { return root_; }
  const std::filesystem::path& file() const noexcept { return file_; }
  /// An empty collection that knows this deck's lines, for what later stages find.
  Findings findings() const { return blank_; }
  /// YAML with every default written out, in the schema's order, paths absolute, the origin of each
  /// value behind it ("# default", "# deck:12", "# command line"). Reading it gives the same deck.
  const std::string& resolved() const noexcept { return resolved_; }

 private:
  Deck() = default;

  Section root_;
  std::filesystem::path file_;
  Findings blank_;
  std::string resolved_;
};

/// A key whose value is not the same in two decks; "(absent)" where there is none.
struct Difference {
  std::string key;  ///< "model.layers.dense1.units"
  std::string before;
  std::string after;
};

/// Compares two resolved decks. Only keys equal to one of `prefixes` or below it count
/// ("model", "train.batch"); no prefixes: all keys. Throws UsageError for text that is no deck.
std::vector<Difference> differences(const std::string& resolved_before,
                                    const std::string& resolved_after,
                                    const std::vector<std::string>& prefixes = {});

}  // namespace zygos::deck
