// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deck/read/node.hpp"

#include "zygos/deck/schema.hpp"

#include <string_view>

namespace zygos::deck {

/// What the schema says of a node of a deck that is not checked yet; null where it says nothing.
struct Guide {
  const KeyFacts* key = nullptr;    ///< the key whose value the node is, or whose element
  const Schema* section = nullptr;  ///< the node's keys, if it is a plain section
  bool element = false;             ///< of the key's list

  /// Whether the node is a section whose keyword decides which keys it has.
  bool is_variant() const;
  /// Of the value of `node`'s key `name`.
  Guide below(std::string_view name, const Node& node) const;
  /// A bare variant becomes a section that can take keys.
  void unfold(Node& node) const;

 private:
  const Schema* keys_of(const Node& node) const;
};

}  // namespace zygos::deck
