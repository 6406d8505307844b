// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Layers, losses and optimizers made from the text of a deck, the way a run makes them.
#pragma once

#include "zygos/deck/deck.hpp"
#include "zygos/nn/registry.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace zygos::testing {

template <class Product>
std::vector<std::string> keywords(const std::vector<nn::Entry<Product>>& entries) {
  std::vector<std::string> names;
  for (const nn::Entry<Product>& entry : entries) {
    names.push_back(entry.schema.name());
  }
  return names;
}

template <class Product>
std::vector<deck::Schema> schemas_of(const std::vector<nn::Entry<Product>>& entries) {
  std::vector<deck::Schema> schemas;
  for (const nn::Entry<Product>& entry : entries) {
    schemas.push_back(entry.schema);
  }
  return schemas;
}

/// What the section's keyword names, with the section's options.
template <class Product>
Product made(const std::vector<nn::Entry<Product>>& entries, const deck::Section& options) {
  const auto found = std::ranges::find_if(entries, [&](const nn::Entry<Product>& entry) {
    return entry.schema.name() == options.text("type");
  });
  if (found == entries.end()) {
    throw std::invalid_argument("no entry is called " + options.text("type"));
  }
  return found->make(options);
}

/// The section that a text such as "{type: dense, units: 3}" or "relu" stands for. Throws DeckError
/// for a keyword or an option that `entries` do not have.
template <class Product>
deck::Section section_of(const std::vector<nn::Entry<Product>>& entries, const std::string& text) {
  deck::Schema schema("model", "One of the parts that nn registers.");
  schema.variant("part", "type", schemas_of(entries), "The part.").required();
  return deck::Deck::parse("part: " + text, "test.yaml", schema).root().section("part");
}

}  // namespace zygos::testing
