// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck_writer.hpp"

#include <algorithm>

namespace zygos::test {
namespace {

using deck::KeyFacts;
using deck::Schema;
using deck::Type;

constexpr std::size_t no_parent = static_cast<std::size_t>(-1);

std::string scalar_for(const KeyFacts& facts) {
  if (!facts.example.empty()) {
    return facts.example;
  }
  if (facts.fallback) {
    return *facts.fallback;
  }
  switch (facts.type) {
    case Type::integer:
    case Type::real:
      return facts.range.least ? std::to_string(static_cast<int>(*facts.range.least) + 1) : "1";
    case Type::boolean:
      return "true";
    case Type::choice:
      return facts.choices.front();
    case Type::quantity:
      return "1 " + std::string(deck::words_of(facts.units.front()).front());
    default:
      return "word";
  }
}

}  // namespace

DeckWriter::DeckWriter(const Schema& schema, std::size_t which) : which_(which) {
  write_keys(schema, 0, no_parent);
}

std::string DeckWriter::text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

const Schema& DeckWriter::chosen(const KeyFacts& facts) const {
  return facts.schemas[which_ % facts.schemas.size()];
}

void DeckWriter::write_keys(const Schema& schema, std::size_t indent, std::size_t parent) {
  for (const deck::Key& key : schema.keys()) {
    if (!key.facts().read_first) {  // other files, and values that must be used
      write_key(key.facts(), indent, parent, false);
    }
  }
}

void DeckWriter::write_key(const KeyFacts& facts, std::size_t indent, std::size_t parent,
                           bool first_of_element) {
  const std::size_t self = keys_.size();
  WrittenKey key{.facts = facts, .line = lines_.size(), .column = indent};
  key.parent_line = parent == no_parent ? 0 : keys_[parent].line;
  key.parent_column = parent == no_parent ? 0 : keys_[parent].column;
  key.first_of_element = first_of_element;
  keys_.push_back(key);
  const std::string head = std::string(indent, ' ') + facts.name + ":";
  const bool block = !facts.schemas.empty();
  const bool names = facts.name == naming_key_;
  const std::string value = names ? "e" + std::to_string(++elements_) : scalar_for(facts);
  lines_.push_back(block ? head : head + " " + value);
  if (block) {
    write_block(facts, indent, self);
  }
  keys_[self].end = lines_.size();
}

void DeckWriter::write_block(const KeyFacts& facts, std::size_t indent, std::size_t self) {
  switch (facts.type) {
    case Type::section:
      write_keys(facts.schemas.front(), indent + 2, self);
      break;
    case Type::named_sections: {
      lines_.push_back(std::string(indent + 2, ' ') + "first:");
      WrittenKey element{.facts = {}, .line = lines_.size() - 1, .column = indent + 2};
      element.facts.name = "first";
      element.facts.type = Type::section;
      keys_.push_back(element);
      const std::size_t place = keys_.size() - 1;
      write_keys(facts.schemas.front(), indent + 4, place);
      keys_[place].end = lines_.size();
      break;
    }
    case Type::variant: {
      lines_.push_back(std::string(indent + 2, ' ') + facts.discriminator + ": " +
                       chosen(facts).name());
      write_keys(chosen(facts), indent + 2, self);
      break;
    }
    default:
      for (const Schema& schema : facts.schemas) {
        write_element(facts, schema, indent + 2);
      }
  }
}

void DeckWriter::write_element(const KeyFacts& facts, const Schema& schema, std::size_t indent) {
  naming_key_ = facts.naming_key;
  lines_.push_back(std::string(indent, ' ') + "- " + facts.discriminator + ": " + schema.name());
  // The element is where the keys' section stands; it is no key of its own.
  WrittenKey element{.facts = {}, .line = lines_.size() - 1, .column = indent + 2};
  element.facts.name = facts.discriminator;
  element.facts.type = Type::choice;
  element.facts.choices = {schema.name()};
  element.end = lines_.size();
  element.first_of_element = true;
  keys_.push_back(element);
  write_keys(schema, indent + 2, keys_.size() - 1);
  naming_key_.clear();
}

}  // namespace zygos::test
