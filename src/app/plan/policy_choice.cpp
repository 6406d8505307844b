// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/plan/policy_choice.hpp"

#include "app/text.hpp"
#include "load/from_registry.hpp"

#include "zygos/core/error.hpp"
#include "zygos/load/deck_file.hpp"
#include "zygos/policies/policies.hpp"
#include "zygos/policies/ways.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace zygos::app {

namespace {

[[noreturn]] void refuse(const std::string& piece) {
  throw UsageError(
      fmt::format("'{}' is no policy: write names with commas between them, options "
                  "behind a colon, as in single,gpipe:micro_batches=4,recompute=always",
                  piece));
}

std::pair<std::string, std::string> option_from(const std::string& text, const std::string& piece) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    refuse(piece);
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

std::vector<PolicyChoice> policy_choices_from(const std::string& text) {
  std::vector<PolicyChoice> choices;
  for (const std::string& piece : split_at_commas(text)) {
    const auto mark = piece.find_first_of(":=");
    const bool further_option = mark != std::string::npos && piece[mark] == '=';
    if (piece.empty() || mark == 0 || (further_option && choices.empty())) {
      refuse(piece);
    }
    if (further_option) {
      choices.back().options.push_back(option_from(piece, piece));
      continue;
    }
    choices.push_back({piece.substr(0, mark), {}});
    if (mark != std::string::npos) {
      choices.back().options.push_back(option_from(piece.substr(mark + 1), piece));
    }
  }
  return choices;
}

train::PolicyPtr policy_of(const RunSetup& setup, const PolicyChoice& choice) {
  const bool own = choice.keyword == setup.policy->keyword();
  if (own && choice.options.empty()) {
    return setup.policy;
  }
  std::vector<std::string> overrides;
  if (own) {
    for (const auto& [key, value] : choice.options) {
      overrides.push_back(fmt::format("policy.{}={}", key, value));
    }
  } else {
    overrides.push_back("policy=" + choice.deck_line().substr(std::string("policy: ").size()));
  }
  const deck::Deck deck =
      deck::Deck::parse(setup.resolved_deck, setup.name + ".yaml", load::whole_schema(), overrides);
  const deck::Section section = deck.root().section("policy");
  return load::made_from(policies::registry(), section.text("type"), section);
}

bool deck_names(const RunSetup& setup, const std::string& keyword) {
  const auto named = policies::search_for(*setup.policy).named;
  return std::ranges::find(named, keyword) != named.end();
}

}  // namespace zygos::app
