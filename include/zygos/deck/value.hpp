// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A deck that was checked against a schema: every value present (given or by default), typed, in
// range, and with its position for whoever finds fault with it later.
#pragma once

#include "zygos/deck/document.hpp"
#include "zygos/deck/schema.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace zygos::deck {

/// A number in its base unit: bytes, seconds, bytes per second, or a count of steps or epochs.
struct Quantity {
  double value = 0.0;
  Unit unit = Unit::bytes;
};

class Section;

/// One checked value.
struct Value {
  Position where;
  bool given = false;    ///< in the deck or on the command line, not by default
  std::string text;      ///< as written: "2 GiB"
  bool is_word = false;  ///< one of the key's words instead of a value
  std::variant<std::monostate, std::int64_t, double, bool, std::string, Quantity,
               std::vector<std::int64_t>, std::vector<std::string>, std::vector<Section>,
               std::vector<std::pair<std::string, Section>>>
      data;
};

/// Getters throw InternalError for a key the schema does not have or of another type.
class Section {
 public:
  Section() = default;

  /// A value exists: given or by default.
  bool has(std::string_view key) const;
  bool given(std::string_view key) const;
  /// The value is this word ("auto").
  bool is_word(std::string_view key, std::string_view word) const;
  std::int64_t integer(std::string_view key) const;
  double real(std::string_view key) const;
  bool boolean(std::string_view key) const;
  const std::string& text(std::string_view key) const;  ///< text or choice
  std::filesystem::path path(std::string_view key) const;
  Quantity quantity(std::string_view key) const;
  const std::vector<std::int64_t>& integers(std::string_view key) const;
  const std::vector<std::string>& texts(std::string_view key) const;
  const Section& section(std::string_view key) const;  ///< section or variant
  const std::vector<Section>& list(std::string_view key) const;
  const std::vector<std::pair<std::string, Section>>& map(std::string_view key) const;

  /// Of the key's value if it was given, else of the section.
  const Position& position(std::string_view key) const;
  const Position& position() const noexcept { return where_; }
  /// Name of the schema it was checked against: for a variant, the alternative chosen ("dense").
  const std::string& keyword() const;
  const Schema& schema() const { return *schema_; }
  const Value* find(std::string_view key) const;

 private:
  friend class Checker;
  const Value& value(std::string_view key) const;

  std::shared_ptr<const Schema> schema_;
  std::filesystem::path folder_;
  Position where_;
  std::vector<std::pair<std::string, Value>> values_;  ///< in the schema's order
};

/// Checks a whole document; findings hold everything wrong with it. The result is only of use when
/// nothing was found.
Section check(const Document& document, const Schema& schema, Findings& findings);

}  // namespace zygos::deck
