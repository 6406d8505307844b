// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/check/checker.hpp"

#include "deck/check/peer_words.hpp"
#include "deck/check/scalar_check.hpp"
#include "deck/describe/describe.hpp"
#include "deck/read/element_names.hpp"
#include "deck/read/text.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <map>

namespace zygos::deck {
namespace {

Type element_type(Type list) {
  switch (list) {
    case Type::integers:
      return Type::integer;
    case Type::reals:
      return Type::real;
    default:
      return Type::text;
  }
}

}  // namespace

Checker::Checker(const Schema& root, std::vector<std::filesystem::path> folders, std::string stem,
                 Findings& findings)
    : root_(root), folders_(std::move(folders)), stem_(std::move(stem)), findings_(findings) {}

ValuePtr Checker::check(const Node& root) {
  Position begin = root.position;
  begin.length = 1;
  const Place place{"", "", begin};
  if (root.is(Node::Kind::null)) {
    report(begin, "the deck is empty", "'zygos init' writes one to begin with");
    return nullptr;
  }
  if (!root.is(Node::Kind::map)) {
    report(begin, "a deck is a section of keys, found " + found_text(root), {});
    return nullptr;
  }
  return check_section(root_, root, place, nullptr);
}

Checker::Place Checker::below(const Place& place, const std::string& name,
                              const Position& position) {
  return {place.path.empty() ? name : place.path + "." + name, name, position};
}

std::string Checker::title(const Place& place) {
  return place.path.empty() ? "the deck" : in_quotes(place.path);
}

void Checker::report(const Position& position, const std::string& message,
                     const std::string& advice) {
  // An override may have changed a part of a default so that the rest no longer fits.
  ZYGOS_REQUIRE(position.origin != Origin::fallback || position.in_overrides,
                "the schema refuses its own default: " + message);
  findings_.error(position, message, advice);
}

void Checker::complain(const Node& node, const Place& place, const std::string& problem,
                       const std::string& advice) {
  const std::string joint = advice.empty() || node.via.empty() ? "" : "; ";
  report(node.position, in_quotes(place.path) + " " + problem, advice + joint + node.via);
}

bool Checker::require_kind(Node::Kind kind, const KeyFacts& facts, const Node& node,
                           const Place& place) {
  if (node.is(kind)) {
    return true;
  }
  if (!node.is(Node::Kind::broken)) {
    const bool list_of_scalars =
        facts.type == Type::integers || facts.type == Type::reals || facts.type == Type::texts;
    const bool forgot_brackets = list_of_scalars && node.is(Node::Kind::scalar);
    const std::string found = node.is(Node::Kind::null) ? "nothing" : found_text(node);
    complain(node, place, "must be " + wanted_text(facts) + ", found " + found,
             forgot_brackets ? "write [" + shown(node.text) + "]" : facts.advice);
  }
  return false;
}

ValuePtr Checker::check_value(const KeyFacts& facts, const Node& node, const Place& place) {
  switch (facts.type) {
    case Type::integers:
    case Type::reals:
    case Type::texts:
      return check_list(facts, node, place);
    case Type::section:
      return require_kind(Node::Kind::map, facts, node, place)
                 ? check_section(facts.schemas.front(), node, place, nullptr)
                 : nullptr;
    case Type::named_sections:
      return check_named(facts, node, place);
    case Type::sections:
    case Type::variants:
      return check_elements(facts, node, place);
    case Type::variant:
      return check_variant(facts, node, place, nullptr);
    default:
      return check_scalar(facts, node, place);
  }
}

ValuePtr Checker::check_scalar(const KeyFacts& facts, const Node& node, const Place& place) {
  if (!require_kind(Node::Kind::scalar, facts, node, place)) {
    return nullptr;
  }
  auto value = std::make_shared<detail::Value>();
  value->name = place.name;
  value->type = facts.type;
  value->position = node.position;
  value->via = node.via;
  const Complaint complaint = read_scalar(
      facts, facts.type, node, folders_.at(node.home.value_or(node.position.file)), *value);
  if (!complaint.empty()) {
    const std::string advice = complaint.advice.empty() ? facts.advice : complaint.advice;
    complain(node, place, complaint.problem, choice_advice(facts, node).value_or(advice));
    return nullptr;
  }
  return value;
}

std::optional<std::string> Checker::choice_advice(const KeyFacts& facts, const Node& node) const {
  if (facts.type != Type::choice) {
    return std::nullopt;
  }
  // Some functions are layers only.
  const Key* model = facts.name == "activation" ? root_.find("model") : nullptr;
  const Key* layers = model == nullptr ? nullptr : model->facts().schemas.front().find("layers");
  if (layers != nullptr && find_schema(layers->facts().schemas, node.text) != nullptr) {
    return "put a layer {type: " + node.text + "} behind this one";
  }
  return advice_for_peer_choice(node.text, facts.choices);
}

void Checker::check_length(const KeyFacts& facts, const Node& node, const Place& place) {
  const std::size_t size = node.items.size();
  if (size >= facts.shortest && size <= facts.longest) {
    return;
  }
  const bool endless = facts.longest == std::numeric_limits<std::size_t>::max();
  const std::string wanted =
      endless ? "at least " + std::to_string(facts.shortest)
              : std::to_string(facts.shortest) +
                    (facts.shortest == facts.longest ? "" : " to " + std::to_string(facts.longest));
  complain(node, place,
           "must have " + wanted + (wanted.ends_with(" 1") ? " element" : " elements") +
               ", found " + std::to_string(size),
           facts.advice);
}

ValuePtr Checker::check_list(const KeyFacts& facts, const Node& node, const Place& place) {
  auto list = std::make_shared<detail::Value>();
  list->name = place.name;
  list->type = facts.type;
  list->position = node.position;
  const auto& words = facts.words;
  if (node.is(Node::Kind::scalar) &&
      std::find(words.begin(), words.end(), node.text) != words.end()) {
    list->is_word = true;
    list->text = node.text;
    return list;
  }
  KeyFacts element = facts;
  element.type = element_type(facts.type);
  element.words.clear();
  if (facts.or_single && node.is(Node::Kind::scalar)) {
    ValuePtr value = check_scalar(element, node, place);
    if (value == nullptr) {
      return nullptr;
    }
    list->children.push_back(std::move(value));
    return list;
  }
  if (!require_kind(Node::Kind::sequence, facts, node, place)) {
    return nullptr;
  }
  check_length(facts, node, place);
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const Place item{place.path + "[" + std::to_string(i) + "]", std::to_string(i),
                     node.items[i].position};
    if (ValuePtr value = check_scalar(element, node.items[i], item)) {
      list->children.push_back(std::move(value));
    }
  }
  return list;
}

void Checker::check_names(const std::vector<std::string>& names, const Node& list,
                          const KeyFacts& facts, const Place& place) {
  std::map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Node* given = list.items[i].find(facts.naming_key);
    const Position& position = given != nullptr ? given->position : list.items[i].position;
    const bool known_kind = !names[i].empty() && (given != nullptr || is_name(names[i]));
    if (known_kind && !is_name(names[i])) {
      report(position, "the name " + in_quotes(names[i]) + " is not allowed",
             "names are letters, digits, '_' and '-', beginning with a letter");
    }
    const auto [first, is_new] = seen.emplace(names[i], i);
    if (known_kind && !is_new) {
      report(position, "the name " + in_quotes(names[i]) + " is given twice in " + title(place),
             "the element of line " + std::to_string(list.items[first->second].position.line) +
                 " has it too; give another one");
    }
  }
}

ValuePtr Checker::check_elements(const KeyFacts& facts, const Node& node, const Place& place) {
  if (!require_kind(Node::Kind::sequence, facts, node, place)) {
    return nullptr;
  }
  check_length(facts, node, place);
  const std::vector<std::string> names = element_names(facts, node);
  check_names(names, node, facts, place);
  auto list = std::make_shared<detail::Value>();
  list->name = place.name;
  list->type = facts.type;
  list->position = place.position;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const Node& item = node.items[i];
    const bool has_name = !names.empty() && is_name(names[i]);
    const std::string part = has_name ? names[i] : std::to_string(i);
    const Place inside = below(place, part, item.position);
    const ImpliedName implied{facts.naming_key, part};
    ValuePtr value;
    if (facts.type == Type::variants) {
      value = check_variant(facts, item, inside, has_name ? &implied : nullptr);
    } else if (require_kind(Node::Kind::map, facts, item, inside)) {
      value = check_section(facts.schemas.front(), item, inside, has_name ? &implied : nullptr);
    }
    if (value) {
      list->children.push_back(std::move(value));
    }
  }
  return list;
}

ValuePtr Checker::check_named(const KeyFacts& facts, const Node& node, const Place& place) {
  if (!require_kind(Node::Kind::map, facts, node, place)) {
    return nullptr;
  }
  auto map = std::make_shared<detail::Value>();
  map->name = place.name;
  map->type = facts.type;
  map->position = place.position;
  for (const NodeEntry& entry : node.entries) {
    if (!is_name(entry.key)) {
      report(entry.position, "the name " + in_quotes(entry.key) + " is not allowed",
             "names are letters, digits, '_' and '-', beginning with a letter");
      continue;
    }
    const Place inside = below(place, entry.key, entry.position);
    KeyFacts element = facts;
    element.type = Type::section;
    if (require_kind(Node::Kind::map, element, entry.value, inside)) {
      map->children.push_back(check_section(facts.schemas.front(), entry.value, inside, nullptr));
    }
  }
  return map;
}

}  // namespace zygos::deck
