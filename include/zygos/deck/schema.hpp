// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a deck may say, declared once: checking, defaults, JSON Schema, explain and the reference
// all read the same declaration.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::deck {

enum class Type : std::uint8_t {
  integer,
  real,
  boolean,
  text,
  path,  ///< relative to the deck's folder
  choice,
  quantity,  ///< number and unit
  integers,  ///< list of integers
  texts,     ///< list of texts
  section,
  variant,   ///< section whose discriminator chooses its schema
  variants,  ///< list of those
  map,       ///< free names, each a section
};

enum class Unit : std::uint8_t { bytes, seconds, bytes_per_second, steps, epochs };

class Schema;

/// One key. The setters return the key, so that a declaration reads as one sentence.
struct Key {
  std::string name;
  std::string doc;
  Type type = Type::text;
  bool is_required = false;
  std::optional<std::string> fallback_text;  ///< the default, as a deck would say it
  std::vector<std::string> words;            ///< accepted instead of a value: "auto"
  std::vector<std::string> choices;
  std::vector<Unit> units;
  std::optional<double> least;
  std::optional<double> most;
  bool least_excluded = false;
  bool most_excluded = false;
  std::shared_ptr<const Schema> schema;  ///< section and map
  std::string discriminator;             ///< variant and variants
  std::vector<Schema> alternatives;      ///< variant and variants

  Key& required();
  Key& fallback(std::string text);
  Key& or_word(std::string word);
  Key& at_least(double value);
  Key& more_than(double value);
  Key& at_most(double value);
  Key& less_than(double value);
  Key& in_range(double low, double high) { return at_least(low).at_most(high); }
};

/// The keys of a section, in the order they are documented and written.
class Schema {
 public:
  explicit Schema(std::string name = {}, std::string doc = {});

  Key& integer(std::string name, std::string doc);
  Key& real(std::string name, std::string doc);
  Key& boolean(std::string name, std::string doc);
  Key& text(std::string name, std::string doc);
  Key& path(std::string name, std::string doc);
  Key& choice(std::string name, std::vector<std::string> choices, std::string doc);
  Key& quantity(std::string name, std::vector<Unit> units, std::string doc);
  Key& integers(std::string name, std::string doc);
  Key& texts(std::string name, std::string doc);
  /// Without a value in the deck the section exists with its defaults, unless it is required or
  /// holds a required key; has() is false then.
  Key& section(std::string name, Schema schema, std::string doc);
  /// `discriminator` ("type") names the alternative by its schema's name. A plain scalar is short
  /// for a section with nothing but the discriminator.
  Key& variant(std::string name, std::string discriminator, std::vector<Schema> alternatives,
               std::string doc);
  Key& variants(std::string name, std::string discriminator, std::vector<Schema> alternatives,
                std::string doc);
  Key& map(std::string name, Schema schema, std::string doc);

  const std::string& name() const noexcept { return name_; }
  const std::string& doc() const noexcept { return doc_; }
  const std::deque<Key>& keys() const noexcept { return keys_; }
  const Key* find(std::string_view name) const;

 private:
  Key& add(Type type, std::string name, std::string doc);

  std::string name_;
  std::string doc_;
  std::deque<Key> keys_;
};

}  // namespace zygos::deck
