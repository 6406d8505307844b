// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The schema of a deck, declared once: checking, defaults, JSON Schema, `explain` and the reference
// all come from it. Modules contribute pieces, e.g. one Schema per layer type:
//
//   Schema schema("dense", "Fully connected layer y = f(x W + b).");
//   schema.integer("units", "Output features (width of the layer).").required().at_least(1);
//   schema.boolean("bias", "Bias: whether to add b.").fallback(true);
//   schema.choice("activation", {"none", "relu"}, "Activation function f.").fallback("none");
//   schema.real("share", "Batch share.").in_range(0, 1).or_word("auto").fallback("auto");
//   schema.quantity("memory", Unit::bytes, "Memory budget.").fallback("2 GiB");
//   schema.quantity("every", {Unit::steps, Unit::seconds}, "Interval.").fallback("10 min");
#pragma once

#include "zygos/deck/units.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::deck {

class Schema;

enum class Type {
  integer,
  real,
  boolean,
  text,
  path,      ///< relative to the folder of the deck
  choice,    ///< one of a few words
  quantity,  ///< a number with a unit
  integers,  ///< list of integers
  reals,     ///< list of numbers
  texts,     ///< list of texts
  scalars,   ///< a map from names the user chooses to numbers, texts and truth values
  section,
  named_sections,  ///< a map from names the user chooses to sections
  sections,        ///< list of sections
  variant,         ///< a section whose discriminator key decides which keys it has
  variants         ///< list of variants
};

/// Limits of a number; closed unless told.
struct Range {
  std::optional<double> least;
  std::optional<double> most;
  bool open_below = false;
  bool open_above = false;
};

/// Everything known about a key; what the generators read.
struct KeyFacts {
  std::string name;
  std::string doc;
  Type type = Type::text;
  bool required = false;
  bool optional = false;                ///< may be absent without a default
  std::optional<std::string> fallback;  ///< YAML text
  std::vector<std::string> words;       ///< allowed besides the type: "auto"
  std::vector<std::string> choices;
  std::vector<Unit> units;
  Range range;  ///< of the number, or of every number in a list
  std::size_t shortest = 0;
  std::size_t longest = std::numeric_limits<std::size_t>::max();
  bool or_single = false;       ///< lists: a bare value is a list of one
  std::vector<Schema> schemas;  ///< one for sections, the table for variants
  std::string discriminator;    ///< variants
  std::string naming_key;       ///< variants, sections: key that names an element
  std::string example;          ///< YAML text
  std::string advice;           ///< added when a value is refused
  std::string excludes;         ///< key of the same section that may not be given, too
  bool falls_back_to_stem = false;
  bool read_first = false;  ///< done by the time a deck is checked
};

/// One key while it is declared; every call returns the key again.
class Key {
 public:
  Key(std::string name, Type type, std::string doc);

  /// The user must give it.
  Key& required();
  /// A section that stays absent if not given (others are filled with their defaults).
  Key& optional();
  /// The value if not given. Text is read as if it stood in the deck: "2 GiB", "[1, 2]".
  Key& fallback(bool value);
  Key& fallback(int value);
  Key& fallback(std::int64_t value);
  Key& fallback(double value);
  Key& fallback(const char* yaml);
  Key& fallback(const std::string& yaml);

  /// The deck's file name without its ending is the value if not given.
  Key& fallback_to_file_stem();

  Key& at_least(double least);
  Key& at_most(double most);
  Key& above(double open_least);
  Key& below(double open_most);
  /// Closed on both sides.
  Key& in_range(double least, double most);
  /// A word that may stand instead of a value: "auto", "never".
  Key& or_word(std::string word);
  /// Number of elements of a list.
  Key& length(std::size_t shortest, std::size_t longest = std::numeric_limits<std::size_t>::max());
  /// Lists of scalars: a bare value stands for a list of one, `kernel: 3` for `kernel: [3]`.
  Key& or_single();
  /// Lists of sections or variants: the text key that names an element. Names are unique; an
  /// element without one is called after its type and its number among its kind: dense1, dense2.
  Key& named_by(std::string key);
  /// Only one of this key and `other` may be given: one on the command line replaces the other in
  /// the deck.
  Key& excludes(std::string other);
  /// Directs the reading of a deck and has no value afterwards: `include`, `variables`.
  Key& read_first();
  /// Shown by `explain` and in the reference.
  Key& example(std::string yaml);
  /// What to do when the value is refused, beside what the check itself says.
  Key& advice(std::string text);

  const KeyFacts& facts() const noexcept { return facts_; }

 private:
  friend class Schema;
  KeyFacts facts_;
};

/// A section: its name, what it is for and its keys. A plain value.
class Schema {
 public:
  Schema(std::string name, std::string doc);

  Key& integer(std::string name, std::string doc);
  Key& real(std::string name, std::string doc);
  Key& boolean(std::string name, std::string doc);
  Key& text(std::string name, std::string doc);
  Key& path(std::string name, std::string doc);
  Key& choice(std::string name, std::vector<std::string> choices, std::string doc);
  Key& quantity(std::string name, Unit unit, std::string doc);
  Key& quantity(std::string name, std::initializer_list<Unit> units, std::string doc);
  Key& integers(std::string name, std::string doc);
  Key& reals(std::string name, std::string doc);
  Key& texts(std::string name, std::string doc);
  Key& scalars(std::string name, std::string doc);
  /// The section's doc is the key's.
  Key& section(std::string name, Schema schema);
  Key& sections(std::string name, Schema element, std::string doc);
  Key& named_sections(std::string name, Schema element, std::string doc);
  /// A section whose key `discriminator` names one schema of the table. A variant that needs no
  /// other key may be written as the bare name: `loss: mse` for `loss: {type: mse}`.
  Key& variant(std::string name, std::string discriminator, std::vector<Schema> table,
               std::string doc);
  Key& variants(std::string name, std::string discriminator, std::vector<Schema> table,
                std::string doc);

  const std::string& name() const noexcept { return name_; }
  const std::string& doc() const noexcept { return doc_; }
  const std::vector<Key>& keys() const noexcept { return keys_; }
  /// Null if there is no such key.
  const Key* find(std::string_view name) const noexcept;

 private:
  Key& add(std::string name, Type type, std::string doc);
  Key& add_composite(std::string name, Type type, std::string doc, std::vector<Schema> schemas,
                     std::string discriminator);

  std::string name_;
  std::string doc_;
  std::vector<Key> keys_;
};

}  // namespace zygos::deck
