// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/load/deck_file.hpp"

#include "zygos/nn/registry.hpp"
#include "zygos/policies/policies.hpp"

#include <utility>

namespace zygos::load {

namespace {

template <class Entries>
std::vector<deck::Schema> schemas_of(const Entries& entries) {
  std::vector<deck::Schema> schemas;
  for (const auto& entry : entries) {
    schemas.push_back(entry.schema);
  }
  return schemas;
}

CheckedDeck checked(deck::Deck deck) {
  deck::RunSpec spec = deck::run_spec(deck);
  return {std::move(deck), std::move(spec)};
}

}  // namespace

deck::Schema whole_schema() {
  return deck::run_schema({.layers = schemas_of(nn::layer_registry()),
                           .losses = schemas_of(nn::loss_registry()),
                           .optimizers = schemas_of(nn::optimizer_registry()),
                           .policies = schemas_of(policies::registry()),
                           .rate_schedules = schemas_of(nn::rate_schedule_registry())});
}

CheckedDeck load_deck(const std::filesystem::path& file,
                      const std::vector<std::string>& overrides) {
  return checked(deck::Deck::load(file, whole_schema(), overrides));
}

CheckedDeck parse_deck(std::string_view text, const std::filesystem::path& file,
                       const std::vector<std::string>& overrides) {
  return checked(deck::Deck::parse(text, file, whole_schema(), overrides));
}

}  // namespace zygos::load
