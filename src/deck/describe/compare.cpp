// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/read/node.hpp"
#include "deck/read/reader.hpp"
#include "deck/read/text.hpp"

#include "zygos/deck/deck.hpp"

#include <algorithm>
#include <utility>

namespace zygos::deck {
namespace {

using Leaves = std::vector<std::pair<std::string, std::string>>;

Node read_resolved(const std::string& text) {
  Findings findings("resolved deck", text);
  std::optional<Node> root = read_yaml(text, findings);
  if (!root || !findings.empty()) {
    throw UsageError("a stored deck can't be read:\n" + findings.text());
  }
  return std::move(*root);
}

/// "[1, 2]", "{a: b}"
std::string flow_text(const Node& node) {
  std::vector<std::string> parts;
  switch (node.kind) {
    case Node::Kind::sequence:
      for (const Node& item : node.items) {
        parts.push_back(flow_text(item));
      }
      return "[" + join(parts) + "]";
    case Node::Kind::map:
      for (const NodeEntry& entry : node.entries) {
        parts.push_back(entry.key + ": " + flow_text(entry.value));
      }
      return "{" + join(parts) + "}";
    case Node::Kind::scalar:
      return node.text;
    case Node::Kind::null:
    case Node::Kind::broken:
      break;
  }
  return "(nothing)";
}

/// Elements of a list go by their `name` where they have one, so that a layer put in between
/// shows as that layer alone.
void collect(const Node& node, const std::string& path, Leaves& leaves) {
  const std::string dot = path.empty() ? "" : ".";
  if (node.is(Node::Kind::map) && !node.entries.empty()) {
    for (const NodeEntry& entry : node.entries) {
      collect(entry.value, path + dot + entry.key, leaves);
    }
    return;
  }
  const bool sections = node.is(Node::Kind::sequence) && !node.items.empty() &&
                        node.items.front().is(Node::Kind::map);
  if (!sections) {
    leaves.emplace_back(path, flow_text(node));
    return;
  }
  std::vector<std::string> order;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const Node* name = node.items[i].find("name");
    const bool named = name != nullptr && name->is(Node::Kind::scalar);
    order.push_back(named ? name->text : std::to_string(i));
    collect(node.items[i], path + dot + order.back(), leaves);
  }
  leaves.emplace_back(path, "[" + join(order) + "]");
}

bool counts(const std::string& key, const std::vector<std::string>& prefixes) {
  return prefixes.empty() ||
         std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& prefix) {
           return key == prefix || key.starts_with(prefix + ".");
         });
}

const std::string* value_of(const Leaves& leaves, const std::string& key) {
  const auto leaf =
      std::find_if(leaves.begin(), leaves.end(), [&](const auto& l) { return l.first == key; });
  return leaf == leaves.end() ? nullptr : &leaf->second;
}

}  // namespace

std::vector<Difference> differences(const std::string& resolved_before,
                                    const std::string& resolved_after,
                                    const std::vector<std::string>& prefixes) {
  const std::string absent = "(absent)";
  Leaves before;
  Leaves after;
  collect(read_resolved(resolved_before), "", before);
  collect(read_resolved(resolved_after), "", after);
  std::vector<Difference> result;
  for (const auto& [key, value] : before) {
    const std::string* now = value_of(after, key);
    if (counts(key, prefixes) && (now == nullptr || *now != value)) {
      result.push_back({key, value, now == nullptr ? absent : *now});
    }
  }
  for (const auto& [key, value] : after) {
    if (counts(key, prefixes) && value_of(before, key) == nullptr) {
      result.push_back({key, absent, value});
    }
  }
  return result;
}

}  // namespace zygos::deck
