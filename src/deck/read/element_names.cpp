// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/read/element_names.hpp"

#include <map>

namespace zygos::deck {

std::string_view keyword_of(const KeyFacts& facts, const Node& node) {
  if (node.is(Node::Kind::scalar)) {
    return node.text;
  }
  const Node* word = node.find(facts.discriminator);
  return word != nullptr && word->is(Node::Kind::scalar) ? std::string_view(word->text)
                                                         : std::string_view();
}

std::vector<std::string> element_names(const KeyFacts& facts, const Node& list) {
  std::vector<std::string> names;
  if (facts.naming_key.empty()) {
    return names;
  }
  std::map<std::string, std::size_t, std::less<>> counts;
  for (const Node& item : list.items) {
    const std::string kind(facts.discriminator.empty() ? facts.schemas.front().name()
                                                       : keyword_of(facts, item));
    const std::size_t number = ++counts[kind];
    const Node* given = item.find(facts.naming_key);
    const bool named = given != nullptr && given->is(Node::Kind::scalar);
    names.push_back(named ? given->text : kind + std::to_string(number));
  }
  return names;
}

}  // namespace zygos::deck
