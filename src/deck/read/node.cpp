// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/read/node.hpp"

#include "deck/read/text.hpp"

#include <algorithm>

namespace zygos::deck {

const Node* Node::find(std::string_view key) const noexcept {
  const auto entry = std::find_if(entries.begin(), entries.end(),
                                  [&](const NodeEntry& e) { return e.key == key; });
  return entry == entries.end() ? nullptr : &entry->value;
}

Node* Node::find(std::string_view key) noexcept {
  return const_cast<Node*>(std::as_const(*this).find(key));
}

Node scalar_node(std::string text, const Position& position) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.text = std::move(text);
  node.position = position;
  return node;
}

void wrap_in_map(Node& node, std::string key) {
  Node map;
  map.kind = Node::Kind::map;
  map.position = node.position;
  map.entries.push_back({std::move(key), node.position, std::move(node)});
  node = std::move(map);
}

void move_to(Node& node, const Position& position) {
  node.position = position;
  for (Node& item : node.items) {
    move_to(item, position);
  }
  for (NodeEntry& entry : node.entries) {
    entry.position = position;
    move_to(entry.value, position);
  }
}

std::string found_text(const Node& node) {
  switch (node.kind) {
    case Node::Kind::scalar:
      return in_quotes(node.text);
    case Node::Kind::sequence:
      return "a list";
    case Node::Kind::map:
      return "a section";
    case Node::Kind::null:
    case Node::Kind::broken:
      break;
  }
  return "nothing";
}

}  // namespace zygos::deck
