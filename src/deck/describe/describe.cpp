// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/describe/describe.hpp"

#include "deck/read/quantities.hpp"
#include "deck/read/text.hpp"

#include <algorithm>

namespace zygos::deck {
namespace {

std::string number_text(const std::string& noun, const Range& range) {
  const std::string limits = range_text(range);
  if (range.least && range.least == range.most) {
    return noun + " equal to " + limits;
  }
  const bool bare = limits.empty() || limits.starts_with("in ") || limits.starts_with("above");
  return limits.empty() ? noun : noun + (bare ? " " : " of ") + limits;
}

std::string type_text(const KeyFacts& facts) {
  switch (facts.type) {
    case Type::integer:
      return number_text("an integer", facts.range);
    case Type::real:
      return number_text("a number", facts.range);
    case Type::boolean:
      return "true or false";
    case Type::text:
      return "text";
    case Type::path:
      return "a path";
    case Type::choice:
      return "one of " + join(facts.choices);
    case Type::quantity:
      return number_text(description_of(facts.units), facts.range);
    case Type::integers:
      return number_text(
          facts.or_single ? "an integer or a list of integers" : "a list of integers", facts.range);
    case Type::reals:
      return number_text(facts.or_single ? "a number or a list of numbers" : "a list of numbers",
                         facts.range);
    case Type::texts:
      return facts.or_single ? "a text or a list of texts" : "a list of texts";
    case Type::scalars:
      return "a section of names and values";
    case Type::section:
      return "a section";
    case Type::named_sections:
      return "a section of named sections";
    case Type::sections:
      return "a list of sections";
    case Type::variant:
      return "a section with '" + facts.discriminator + "'";
    case Type::variants:
      return "a list of sections with '" + facts.discriminator + "'";
  }
  return {};
}

std::string sample_value(const KeyFacts& facts) {
  if (!facts.example.empty()) {
    return facts.example;
  }
  switch (facts.type) {
    case Type::integer:
    case Type::real:
      return "1";
    case Type::boolean:
      return "true";
    case Type::choice:
      return facts.choices.front();
    case Type::quantity: {
      const std::string sample = samples_of("1", std::span(facts.units).first(1));
      return sample.substr(1, sample.size() - 2);
    }
    default:
      return "...";
  }
}

}  // namespace

std::string range_text(const Range& range) {
  const std::string least = range.least ? text_of(*range.least) : std::string();
  const std::string most = range.most ? text_of(*range.most) : std::string();
  if (range.least && range.least == range.most) {
    return least;
  }
  if (range.least && range.most) {
    return std::string("in ") + (range.open_below ? "(" : "[") + least + ", " + most +
           (range.open_above ? ")" : "]");
  }
  if (range.least) {
    return (range.open_below ? "above " : "at least ") + least;
  }
  if (range.most) {
    return (range.open_above ? "below " : "at most ") + most;
  }
  return {};
}

std::string wanted_text(const KeyFacts& facts) {
  std::string text = type_text(facts);
  for (const std::string& word : facts.words) {
    text += " or '" + word + "'";
  }
  return text;
}

std::string default_text(const KeyFacts& facts) {
  if (facts.falls_back_to_stem) {
    return "the file's name";
  }
  if (facts.fallback) {
    return "`" + *facts.fallback + "`";
  }
  const bool filled = facts.type == Type::section && !facts.optional && !is_required(facts);
  return filled ? "its keys' defaults" : std::string();
}

bool is_required(const KeyFacts& facts) {
  return facts.required || (facts.type == Type::section && !facts.optional && !facts.fallback &&
                            has_required_key(facts.schemas.front()));
}

bool has_required_key(const Schema& schema) {
  return std::any_of(schema.keys().begin(), schema.keys().end(),
                     [](const Key& key) { return is_required(key.facts()); });
}

std::vector<std::string> key_names(const Schema& schema) {
  std::vector<std::string> names;
  for (const Key& key : schema.keys()) {
    names.push_back(key.facts().name);
  }
  return names;
}

std::vector<std::string> schema_names(const std::vector<Schema>& schemas) {
  std::vector<std::string> names;
  for (const Schema& schema : schemas) {
    names.push_back(schema.name());
  }
  return names;
}

const Schema* find_schema(const std::vector<Schema>& schemas, std::string_view name) {
  const auto schema = std::find_if(schemas.begin(), schemas.end(),
                                   [&](const Schema& s) { return s.name() == name; });
  return schema == schemas.end() ? nullptr : &*schema;
}

std::string sample_text(const KeyFacts& facts) { return facts.name + ": " + sample_value(facts); }

}  // namespace zygos::deck
