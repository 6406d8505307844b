// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/compose/lay_over.hpp"

#include "deck/read/element_names.hpp"

#include <algorithm>
#include <vector>

namespace zygos::deck {
namespace {

bool is_written_null(const Node& node) {
  return node.is(Node::Kind::null) && node.text == written_null;
}

/// Two keys of `own` that exclude each other both stay, to be refused.
void drop_excluded(Node& included, const Node& own, const Guide& guide) {
  if (guide.key == nullptr || own.find(guide.key->excludes) != nullptr) {
    return;
  }
  std::erase_if(included.entries,
                [&](const NodeEntry& entry) { return entry.key == guide.key->excludes; });
}

/// Whether both name a keyword, and not the same one.
bool have_other_keywords(const Node& included, const Node& own, const Guide& guide) {
  if (!guide.is_variant()) {
    return false;
  }
  const auto before = keyword_of(*guide.key, included);
  const auto now = keyword_of(*guide.key, own);
  return !before.empty() && !now.empty() && before != now;
}

void lay_entry_over(Node& included, NodeEntry own, const Guide& guide) {
  const auto entry = std::ranges::find(included.entries, own.key, &NodeEntry::key);
  if (entry == included.entries.end()) {
    included.entries.push_back(std::move(own));
  } else if (is_written_null(own.value)) {
    included.entries.erase(entry);
  } else {
    entry->position = own.position;
    lay_over(entry->value, std::move(own.value), guide);
  }
}

}  // namespace

void lay_over(Node& included, Node own, const Guide& guide) {
  if (own.is(Node::Kind::map)) {
    guide.unfold(included);
  }
  const bool maps = included.is(Node::Kind::map) && own.is(Node::Kind::map);
  if (!maps || have_other_keywords(included, own, guide)) {
    included = std::move(own);
    return;
  }
  // The keyword may stand in either of the two.
  const bool told = guide.is_variant() && !keyword_of(*guide.key, own).empty();
  const Node& keyed = told ? own : included;
  std::vector<Guide> guides;
  for (const NodeEntry& entry : own.entries) {
    guides.push_back(guide.below(entry.key, keyed));
    drop_excluded(included, own, guides.back());
  }
  included.position = own.position;
  for (std::size_t i = 0; i < own.entries.size(); ++i) {
    lay_entry_over(included, std::move(own.entries[i]), guides[i]);
  }
}

}  // namespace zygos::deck
