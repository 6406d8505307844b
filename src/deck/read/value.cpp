// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/deck/value.hpp"

#include "deck/read/value_data.hpp"

#include <algorithm>
#include <initializer_list>

namespace zygos::deck {
namespace {

using detail::Value;

const Value* child_of(const Value& section, std::string_view key) {
  const auto child = std::find_if(section.children.begin(), section.children.end(),
                                  [&](const auto& c) { return c->name == key; });
  return child == section.children.end() ? nullptr : child->get();
}

const Value& require(const Value& value, std::initializer_list<Type> types) {
  const bool fits = std::find(types.begin(), types.end(), value.type) != types.end();
  ZYGOS_REQUIRE(fits && !value.is_word,
                "deck key '" + value.name + "' is read as another type than its schema declares");
  return value;
}

template <class T>
std::vector<T> elements_of(const Value& list, Type type, T Value::*member) {
  require(list, {type});
  std::vector<T> result;
  for (const auto& element : list.children) {
    result.push_back((*element).*member);
  }
  return result;
}

double quantity_in(const Value& value, Unit unit) {
  require(value, {Type::quantity});
  ZYGOS_REQUIRE(value.quantity.unit == unit,
                "deck key '" + value.name + "' is read in another unit than it was given in");
  return value.quantity.value;
}

}  // namespace

Section::Section() : value_(std::make_shared<const Value>()) {}

Section::Section(std::shared_ptr<const Value> value) : value_(std::move(value)) {}

const Value& Section::at(std::string_view key) const {
  const Value* child = child_of(*value_, key);
  ZYGOS_REQUIRE(child != nullptr, "deck section '" + value_->name + "' has no value for '" +
                                      std::string(key) + "'; ask has() first");
  return *child;
}

bool Section::has(std::string_view key) const { return child_of(*value_, key) != nullptr; }

bool Section::is_word(std::string_view key, std::string_view word) const {
  const Value* child = child_of(*value_, key);
  return child != nullptr && child->is_word && child->text == word;
}

std::int64_t Section::integer(std::string_view key) const {
  return require(at(key), {Type::integer}).integer;
}

double Section::real(std::string_view key) const {
  const Value& value = require(at(key), {Type::real, Type::integer});
  return value.type == Type::real ? value.real : static_cast<double>(value.integer);
}

bool Section::boolean(std::string_view key) const {
  return require(at(key), {Type::boolean}).boolean;
}

const std::string& Section::text(std::string_view key) const {
  const Value& value = at(key);
  return value.is_word ? value.text : require(value, {Type::text, Type::choice, Type::path}).text;
}

std::filesystem::path Section::path(std::string_view key) const {
  return require(at(key), {Type::path}).path;
}

Quantity Section::quantity(std::string_view key) const {
  return require(at(key), {Type::quantity}).quantity;
}

std::size_t Section::bytes(std::string_view key) const {
  return static_cast<std::size_t>(quantity_in(at(key), Unit::bytes));
}

double Section::seconds(std::string_view key) const { return quantity_in(at(key), Unit::seconds); }

double Section::bytes_per_second(std::string_view key) const {
  return quantity_in(at(key), Unit::bandwidth);
}

std::vector<std::int64_t> Section::integers(std::string_view key) const {
  return elements_of(at(key), Type::integers, &Value::integer);
}

std::vector<double> Section::reals(std::string_view key) const {
  return elements_of(at(key), Type::reals, &Value::real);
}

std::vector<std::string> Section::texts(std::string_view key) const {
  return elements_of(at(key), Type::texts, &Value::text);
}

Section Section::section(std::string_view key) const {
  const Value& value = require(at(key), {Type::section, Type::variant});
  // Shares the ownership of this section, points at the child.
  return Section(std::shared_ptr<const Value>(value_, &value));
}

std::vector<Section> Section::sections(std::string_view key) const {
  const Value& list = require(at(key), {Type::sections, Type::variants, Type::named_sections});
  std::vector<Section> result;
  for (const auto& element : list.children) {
    result.emplace_back(element);
  }
  return result;
}

const std::string& Section::name() const { return value_->name; }

const Position& Section::position() const { return value_->position; }

const Position& Section::position(std::string_view key) const {
  const Value* child = child_of(*value_, key);
  return child == nullptr ? value_->position : child->position;
}

}  // namespace zygos::deck
