// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/check/checker.hpp"
#include "deck/check/peer_words.hpp"
#include "deck/describe/describe.hpp"
#include "deck/read/fallback_node.hpp"
#include "deck/read/slips.hpp"
#include "deck/read/text.hpp"

#include <algorithm>

namespace zygos::deck {
namespace {

/// "train.batch": where a key of this name belongs, if there is such a place.
std::optional<std::string> path_of(const Schema& schema, std::string_view key) {
  for (const Key& candidate : schema.keys()) {
    const KeyFacts& facts = candidate.facts();
    for (const Schema& inner : facts.schemas) {
      const std::string keyword = facts.discriminator.empty() ? "" : inner.name() + ".";
      const std::string path = facts.name + "." + keyword;
      if (inner.find(key) != nullptr) {
        return path + std::string(key);
      }
      if (const auto deeper = path_of(inner, key)) {
        return path + *deeper;
      }
    }
  }
  return std::nullopt;
}

/// Whether "section.key" is a key.
bool has_path(const Schema& root, std::string_view path) {
  const auto dot = path.find('.');
  const auto section = std::ranges::find_if(root.keys(), [&](const Key& candidate) {
    return candidate.facts().name == path.substr(0, dot);
  });
  return section != root.keys().end() &&
         std::ranges::any_of(section->facts().schemas, [&](const Schema& inner) {
           return inner.find(path.substr(dot + 1)) != nullptr;
         });
}

Position as_default(Position position) {
  position.origin = Origin::fallback;
  return position;
}

/// What to add: an example where one of the kind does for a start, but no number that would be
/// invented.
std::string missing_text(const KeyFacts& facts) {
  const bool number = facts.type == Type::integer || facts.type == Type::real;
  const bool free = facts.range.least != facts.range.most || !facts.range.least;
  if (!number || !free) {
    return sample_text(facts);
  }
  std::string meaning = facts.doc;
  while (meaning.ends_with('.')) {
    meaning.pop_back();
  }
  return in_quotes(facts.name) + ", " + wanted_text(facts) +
         (meaning.empty() ? "" : ": " + meaning);
}

}  // namespace

std::string Checker::advice_for(std::string_view key, const std::vector<std::string>& allowed,
                                const KeyFacts* variant) const {
  if (auto advice = advice_for_peer_key(key, allowed)) {
    return *advice;
  }
  if (const auto path = path_for_peer_key(key); path && has_path(root_, *path)) {
    return "did you mean '" + *path + "'?";
  }
  if (nearest(key, allowed)) {
    return suggestion(key, allowed);
  }
  if (variant != nullptr) {
    std::vector<std::string> owners;
    for (const Schema& schema : variant->schemas) {
      if (schema.find(key) != nullptr) {
        owners.push_back(schema.name());
      }
    }
    if (!owners.empty()) {
      return "it is a key of " + join(owners);
    }
  }
  if (const auto meant = meant_key(key, allowed)) {
    const auto pair = glued_pair(key);
    return pair ? "write '" + shown(*meant + pair->rewritten.substr(pair->key.size())) + "'"
                : "did you mean '" + *meant + "'?";
  }
  if (key == "<<") {
    return "merge keys are not supported; write the values out";
  }
  const auto elsewhere =
      root_.find(key) != nullptr ? std::optional(std::string(key)) : path_of(root_, key);
  return elsewhere ? "did you mean '" + *elsewhere + "'?" : suggestion(key, allowed);
}

std::vector<std::string> Checker::refuse_unknown(const Schema& schema, const Node& node,
                                                 const Place& place, const KeyFacts* variant) {
  std::vector<std::string> allowed = key_names(schema);
  if (variant != nullptr) {
    allowed.insert(allowed.begin(), variant->discriminator);
  }
  const std::string kind = variant == nullptr ? "" : " (" + schema.name() + ")";
  std::vector<std::string> meant;
  for (const NodeEntry& entry : node.entries) {
    if (contains(allowed, entry.key)) {
      continue;
    }
    report(entry.position, "unknown key " + in_quotes(entry.key) + " in " + title(place) + kind,
           advice_for(entry.key, allowed, variant));
    const auto peer = meant_by_peer(entry.key, allowed);
    if (const auto key = peer ? peer : meant_key(entry.key, allowed)) {
      meant.push_back(*key);
    }
  }
  return meant;
}

ValuePtr Checker::check_section(const Schema& schema, const Node& node, const Place& place,
                                const ImpliedName* implied) {
  auto section = std::make_shared<detail::Value>();
  section->name = place.name;
  section->type = Type::section;
  section->position = place.position;
  fill(*section, schema, node, place, nullptr, implied);
  return section;
}

ValuePtr Checker::check_keyword(const KeyFacts& facts, const Node& node, const Place& place) {
  const Node* word = node.find(facts.discriminator);
  const std::vector<std::string> names = schema_names(facts.schemas);
  if (word != nullptr) {
    KeyFacts keyword;
    keyword.name = facts.discriminator;
    keyword.type = Type::choice;
    keyword.choices = names;
    return check_scalar(keyword, *word, below(place, facts.discriminator, word->position));
  }
  const auto misspelt =
      std::find_if(node.entries.begin(), node.entries.end(), [&](const NodeEntry& entry) {
        return meant_key(entry.key, {facts.discriminator}).has_value();
      });
  if (misspelt != node.entries.end()) {
    report(misspelt->position, "unknown key " + in_quotes(misspelt->key) + " in " + title(place),
           advice_for(misspelt->key, {facts.discriminator}, nullptr));
  } else {
    report(place.position, "missing key '" + facts.discriminator + "' in " + title(place),
           "allowed: " + join(names));
  }
  return nullptr;
}

ValuePtr Checker::check_variant(const KeyFacts& facts, const Node& node, const Place& place,
                                const ImpliedName* implied) {
  if (node.is(Node::Kind::scalar)) {
    Node wrapped = node;
    wrap_in_map(wrapped, facts.discriminator);
    return check_variant(facts, wrapped, place, implied);
  }
  if (!require_kind(Node::Kind::map, facts, node, place)) {
    return nullptr;
  }
  const ValuePtr keyword = check_keyword(facts, node, place);
  if (!keyword) {
    return nullptr;
  }
  auto section = std::make_shared<detail::Value>();
  section->name = place.name;
  section->type = Type::variant;
  section->position = place.position;
  section->children.push_back(keyword);
  fill(*section, *find_schema(facts.schemas, keyword->text), node, place, &facts, implied);
  return section;
}

void Checker::fill(detail::Value& value, const Schema& schema, const Node& node, const Place& place,
                   const KeyFacts* variant, const ImpliedName* implied) {
  const std::vector<std::string> meant = refuse_unknown(schema, node, place, variant);
  for (const Key& key : schema.keys()) {
    const KeyFacts& facts = key.facts();
    if (facts.read_first) {
      continue;
    }
    const auto entry =
        std::find_if(node.entries.begin(), node.entries.end(),
                     [&](const NodeEntry& candidate) { return candidate.key == facts.name; });
    ValuePtr child;
    if (entry != node.entries.end()) {
      child = check_value(facts, entry->value, below(place, facts.name, entry->position));
    } else if (!contains(meant, facts.name)) {
      child = fallback_value(facts, place, implied);
    }
    if (child) {
      value.children.push_back(std::move(child));
    }
  }
}

ValuePtr Checker::fallback_value(const KeyFacts& facts, const Place& section,
                                 const ImpliedName* implied) {
  const Position position = as_default(section.position);
  const Place place = below(section, facts.name, position);
  if (implied != nullptr && facts.name == implied->key) {
    return check_value(facts, scalar_node(implied->name, position), place);
  }
  if (facts.falls_back_to_stem) {
    return check_value(facts, scalar_node(stem_, position), place);
  }
  if (facts.fallback) {
    return check_value(facts, fallback_node(facts, position), place);
  }
  if (is_required(facts)) {
    report(section.position, "missing key '" + facts.name + "' in " + title(section),
           "add " + missing_text(facts));
    return nullptr;
  }
  if (facts.type == Type::section && !facts.optional) {
    Node empty;
    empty.kind = Node::Kind::map;
    empty.position = position;
    return check_section(facts.schemas.front(), empty, place, nullptr);
  }
  return nullptr;
}

}  // namespace zygos::deck
