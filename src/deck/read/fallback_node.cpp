// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/read/fallback_node.hpp"

#include "deck/read/reader.hpp"

#include "zygos/core/error.hpp"

namespace zygos::deck {
namespace {

bool is_scalar(Type type) {
  return type == Type::integer || type == Type::real || type == Type::boolean ||
         type == Type::text || type == Type::path || type == Type::choice || type == Type::quantity;
}

}  // namespace

Node fallback_node(const KeyFacts& facts, const Position& position) {
  if (is_scalar(facts.type)) {
    return scalar_node(*facts.fallback, position);
  }
  Findings findings("default of " + facts.name, *facts.fallback);
  std::optional<Node> node = read_yaml(*facts.fallback, findings);
  ZYGOS_REQUIRE(node && findings.empty(), findings.text());
  move_to(*node, position);
  return std::move(*node);
}

}  // namespace zygos::deck
