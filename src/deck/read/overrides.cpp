// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/read/overrides.hpp"

#include "deck/read/element_names.hpp"
#include "deck/read/fallback_node.hpp"
#include "deck/read/guide.hpp"
#include "deck/read/reader.hpp"
#include "deck/read/text.hpp"

#include <algorithm>
#include <charconv>

namespace zygos::deck {
namespace {

class Walk {
 public:
  Walk(Node& root, const Schema& schema, const Position& position, Findings& findings)
      : node_(&root), guide_{nullptr, &schema, false}, position_(position), findings_(findings) {}

  /// Goes to a key or an element, making what is not there yet; false after a finding.
  bool step(std::string_view part) {
    guide_.unfold(*node_);
    if (node_->is(Node::Kind::sequence)) {
      return to_element(part);
    }
    if (node_->is(Node::Kind::null)) {
      node_->kind = Node::Kind::map;
      node_->position = position_;
    }
    if (!node_->is(Node::Kind::map)) {
      const std::string title = path_.empty() ? "the deck" : in_quotes(path_);
      return refuse(title + " has no keys, found " + found_text(*node_), {});
    }
    to_key(part);
    return true;
  }

  Node& node() { return *node_; }

 private:
  bool refuse(const std::string& message, const std::string& advice) {
    findings_.error(position_, message, advice);
    return false;
  }

  void to_key(std::string_view part) {
    const Guide next = guide_.below(part, *node_);
    if (next.key != nullptr && !next.key->excludes.empty()) {
      drop_from_deck(next.key->excludes);
    }
    node_ = &child_of(part, next);
    path_ += (path_.empty() ? "" : ".") + std::string(part);
    guide_ = next;
  }

  /// Removes a key of the node that the deck gave; one of the command line stays, to be refused.
  void drop_from_deck(std::string_view key) {
    std::erase_if(node_->entries, [&](const NodeEntry& entry) {
      return entry.key == key && entry.position.origin != Origin::command_line &&
             entry.value.position.origin != Origin::command_line;
    });
  }

  /// The child with this key; made, from its default if it has one, where it is not there yet.
  Node& child_of(std::string_view part, const Guide& guide) {
    const auto entry = std::find_if(node_->entries.begin(), node_->entries.end(),
                                    [&](const NodeEntry& e) { return e.key == part; });
    if (entry != node_->entries.end()) {
      if (entry->position.origin == Origin::fallback) {
        entry->position = position_;
      }
      return entry->value;
    }
    Node fresh;
    fresh.position = position_;
    const bool has_default = guide.key != nullptr && !guide.element && guide.key->fallback;
    if (has_default && !guide.key->schemas.empty()) {
      fresh = fallback_node(*guide.key, as_default(position_));
    }
    node_->entries.push_back({std::string(part), position_, std::move(fresh)});
    return node_->entries.back().value;
  }

  bool to_element(std::string_view part) {
    const std::vector<std::string> names = guide_.key != nullptr && !guide_.element
                                               ? element_names(*guide_.key, *node_)
                                               : std::vector<std::string>();
    auto index =
        static_cast<std::size_t>(std::find(names.begin(), names.end(), part) - names.begin());
    if (index == names.size()) {
      const auto end = part.data() + part.size();
      const auto number = std::from_chars(part.data(), end, index);
      if (number.ec != std::errc() || number.ptr != end || index >= node_->items.size()) {
        return refuse(in_quotes(path_) + " has no element " + in_quotes(part),
                      elements(part, names));
      }
    }
    path_ += "." + std::string(part);
    node_ = &node_->items[index];
    const bool plain = guide_.key != nullptr && guide_.key->type == Type::sections;
    guide_ = {guide_.key, plain ? &guide_.key->schemas.front() : nullptr, true};
    return true;
  }

  std::string elements(std::string_view part, const std::vector<std::string>& names) const {
    const std::string counted = "allowed: 0 to " + std::to_string(node_->items.size() - 1);
    if (node_->items.empty()) {
      return "the list is empty";
    }
    if (const auto near = nearest(part, names)) {
      return "did you mean '" + *near + "'?";
    }
    return names.empty() ? counted : counted + ", " + join(names);
  }

  static Position as_default(Position position) {
    position.origin = Origin::fallback;
    return position;
  }

  Node* node_;
  Guide guide_;
  Position position_;
  Findings& findings_;
  std::string path_;
};

void apply(Node& root, const Schema& schema, std::string_view argument, std::size_t column,
           Findings& findings) {
  Position position;
  position.origin = Origin::command_line;
  position.in_overrides = true;
  position.column = column;
  const std::size_t equals = argument.find('=');
  const std::string_view path = argument.substr(0, equals);
  position.length = std::max<std::size_t>(1, count_characters(path));
  if (equals == std::string_view::npos) {
    findings.error(position, in_quotes(argument) + " is not an override",
                   "overrides are written key.path=value, e.g. train.batch=64");
    return;
  }
  const std::string value(argument.substr(equals + 1));
  std::optional<Node> node =
      read_yaml(value, findings, {Origin::command_line, column + count_characters(path) + 1});
  if (!node) {
    return;
  }
  Walk walk(root, schema, position, findings);
  for (const std::string_view part : split(path, '.')) {
    if (part.empty()) {
      findings.error(position, "empty part in " + in_quotes(path),
                     "overrides are written key.path=value, e.g. train.batch=64");
      return;
    }
    if (!walk.step(part)) {
      return;
    }
  }
  if (node->is(Node::Kind::null)) {
    node->position = position;
  }
  walk.node() = std::move(*node);
}

}  // namespace

void apply_overrides(Node& root, const Schema& schema, const std::vector<std::string>& overrides,
                     Findings& findings) {
  std::size_t column = 1;
  for (const std::string& argument : overrides) {
    apply(root, schema, argument, column, findings);
    column += count_characters(argument) + 1;
  }
}

}  // namespace zygos::deck
