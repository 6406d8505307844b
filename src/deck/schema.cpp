// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/deck/schema.hpp"

#include "deck/read/quantities.hpp"

#include <algorithm>

namespace zygos::deck {

Key::Key(std::string name, Type type, std::string doc) {
  facts_.name = std::move(name);
  facts_.type = type;
  facts_.doc = std::move(doc);
}

Key& Key::required() {
  facts_.required = true;
  return *this;
}
Key& Key::optional() {
  facts_.optional = true;
  return *this;
}
Key& Key::fallback(bool value) { return fallback(value ? "true" : "false"); }
Key& Key::fallback(int value) { return fallback(std::to_string(value)); }
Key& Key::fallback(std::int64_t value) { return fallback(std::to_string(value)); }
Key& Key::fallback(double value) { return fallback(text_of(value)); }
Key& Key::fallback(const char* yaml) { return fallback(std::string(yaml)); }
Key& Key::fallback(const std::string& yaml) {
  facts_.fallback = yaml;
  return *this;
}
Key& Key::fallback_to_file_stem() {
  facts_.falls_back_to_stem = true;
  return *this;
}
Key& Key::at_least(double least) {
  facts_.range.least = least;
  facts_.range.open_below = false;
  return *this;
}
Key& Key::at_most(double most) {
  facts_.range.most = most;
  facts_.range.open_above = false;
  return *this;
}
Key& Key::above(double open_least) {
  facts_.range.least = open_least;
  facts_.range.open_below = true;
  return *this;
}
Key& Key::below(double open_most) {
  facts_.range.most = open_most;
  facts_.range.open_above = true;
  return *this;
}
Key& Key::in_range(double least, double most) { return at_least(least).at_most(most); }
Key& Key::or_word(std::string word) {
  facts_.words.push_back(std::move(word));
  return *this;
}
Key& Key::length(std::size_t shortest, std::size_t longest) {
  facts_.shortest = shortest;
  facts_.longest = longest;
  return *this;
}
Key& Key::or_single() {
  facts_.or_single = true;
  return *this;
}

Key& Key::named_by(std::string key) {
  facts_.naming_key = std::move(key);
  return *this;
}
Key& Key::example(std::string yaml) {
  facts_.example = std::move(yaml);
  return *this;
}
Key& Key::excludes(std::string other) {
  facts_.excludes = std::move(other);
  return *this;
}
Key& Key::read_first() {
  facts_.optional = true;
  facts_.read_first = true;
  return *this;
}
Key& Key::advice(std::string text) {
  facts_.advice = std::move(text);
  return *this;
}

Schema::Schema(std::string name, std::string doc) : name_(std::move(name)), doc_(std::move(doc)) {}

Key& Schema::add(std::string name, Type type, std::string doc) {
  return keys_.emplace_back(std::move(name), type, std::move(doc));
}

Key& Schema::add_composite(std::string name, Type type, std::string doc,
                           std::vector<Schema> schemas, std::string discriminator) {
  Key& key = add(std::move(name), type, std::move(doc));
  key.facts_.schemas = std::move(schemas);
  key.facts_.discriminator = std::move(discriminator);
  return key;
}

Key& Schema::integer(std::string name, std::string doc) {
  return add(std::move(name), Type::integer, std::move(doc));
}
Key& Schema::real(std::string name, std::string doc) {
  return add(std::move(name), Type::real, std::move(doc));
}
Key& Schema::boolean(std::string name, std::string doc) {
  return add(std::move(name), Type::boolean, std::move(doc));
}
Key& Schema::text(std::string name, std::string doc) {
  return add(std::move(name), Type::text, std::move(doc));
}
Key& Schema::path(std::string name, std::string doc) {
  return add(std::move(name), Type::path, std::move(doc));
}
Key& Schema::choice(std::string name, std::vector<std::string> choices, std::string doc) {
  Key& key = add(std::move(name), Type::choice, std::move(doc));
  key.facts_.choices = std::move(choices);
  return key;
}
Key& Schema::quantity(std::string name, Unit unit, std::string doc) {
  return quantity(std::move(name), {unit}, std::move(doc));
}
Key& Schema::quantity(std::string name, std::initializer_list<Unit> units, std::string doc) {
  Key& key = add(std::move(name), Type::quantity, std::move(doc));
  key.facts_.units = units;
  return key;
}
Key& Schema::integers(std::string name, std::string doc) {
  return add(std::move(name), Type::integers, std::move(doc));
}
Key& Schema::reals(std::string name, std::string doc) {
  return add(std::move(name), Type::reals, std::move(doc));
}
Key& Schema::texts(std::string name, std::string doc) {
  return add(std::move(name), Type::texts, std::move(doc));
}
Key& Schema::scalars(std::string name, std::string doc) {
  return add(std::move(name), Type::scalars, std::move(doc));
}
Key& Schema::section(std::string name, Schema schema) {
  std::string doc = schema.doc();
  return add_composite(std::move(name), Type::section, std::move(doc), {std::move(schema)}, {});
}
Key& Schema::sections(std::string name, Schema element, std::string doc) {
  return add_composite(std::move(name), Type::sections, std::move(doc), {std::move(element)}, {});
}
Key& Schema::named_sections(std::string name, Schema element, std::string doc) {
  return add_composite(std::move(name), Type::named_sections, std::move(doc), {std::move(element)},
                       {});
}
Key& Schema::variant(std::string name, std::string discriminator, std::vector<Schema> table,
                     std::string doc) {
  return add_composite(std::move(name), Type::variant, std::move(doc), std::move(table),
                       std::move(discriminator));
}
Key& Schema::variants(std::string name, std::string discriminator, std::vector<Schema> table,
                      std::string doc) {
  return add_composite(std::move(name), Type::variants, std::move(doc), std::move(table),
                       std::move(discriminator));
}

const Key* Schema::find(std::string_view name) const noexcept {
  const auto key = std::find_if(keys_.begin(), keys_.end(),
                                [&](const Key& k) { return k.facts().name == name; });
  return key == keys_.end() ? nullptr : &*key;
}

}  // namespace zygos::deck
