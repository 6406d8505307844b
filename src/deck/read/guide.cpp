// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/read/guide.hpp"

#include "deck/describe/describe.hpp"
#include "deck/read/element_names.hpp"

namespace zygos::deck {

bool Guide::is_variant() const {
  return key != nullptr && !key->discriminator.empty() && (element || key->type == Type::variant);
}

const Schema* Guide::keys_of(const Node& node) const {
  if (section != nullptr || key == nullptr) {
    return section;
  }
  const bool variant = key->type == Type::variant || key->type == Type::variants;
  return variant ? find_schema(key->schemas, keyword_of(*key, node)) : nullptr;
}

Guide Guide::below(std::string_view name, const Node& node) const {
  if (key != nullptr && key->type == Type::named_sections && !element) {
    return {key, &key->schemas.front(), true};
  }
  const Schema* keys = keys_of(node);
  const Key* inner = keys != nullptr ? keys->find(name) : nullptr;
  if (inner == nullptr) {
    return {};
  }
  const bool plain = inner->facts().type == Type::section;
  return {&inner->facts(), plain ? &inner->facts().schemas.front() : nullptr, false};
}

void Guide::unfold(Node& node) const {
  if (is_variant() && node.is(Node::Kind::scalar)) {
    wrap_in_map(node, key->discriminator);
  }
}

}  // namespace zygos::deck
