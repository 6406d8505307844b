// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policies/golden.hpp"

#include "zygos/deck/deck.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <set>

namespace zygos::policies {
namespace {

const train::PolicyEntry& entry_of(const std::vector<train::PolicyEntry>& entries,
                                   const std::string& keyword) {
  return *std::ranges::find_if(
      entries, [&](const train::PolicyEntry& entry) { return entry.schema.name() == keyword; });
}

train::PolicyPtr policy_of(const std::string& keyword, const std::string& text) {
  const auto entries = registry();
  const train::PolicyEntry& entry = entry_of(entries, keyword);
  return entry.make(deck::Deck::parse(text, "deck.yaml", entry.schema).root());
}

std::int64_t first_lane_samples(const train::PolicyPtr& policy) {
  return policy->schedule(test::host_and_device(), nullptr).samples_of(0).count();
}

TEST_CASE("Every registered policy has its own keyword, and makes a policy of that keyword") {
  std::set<std::string> keywords;
  for (const train::PolicyEntry& entry : registry()) {
    CAPTURE(entry.schema.name());
    CHECK(keywords.insert(entry.schema.name()).second);
    CHECK_FALSE(entry.schema.doc().empty());
    CHECK(policy_of(entry.schema.name(), "{}")->keyword() == entry.schema.name());
  }
  CHECK(keywords == std::set<std::string>{"single", "coarse_split"});
}

TEST_CASE("A deck chooses the lane of single") {
  CHECK(first_lane_samples(policy_of("single", "lane: device")) == 0);
  CHECK(first_lane_samples(policy_of("single", "{}")) == 100);
}

TEST_CASE("A deck chooses the share of a coarse split, auto unless told") {
  CHECK(first_lane_samples(policy_of("coarse_split", "share: 0.3")) == 30);
  CHECK(policy_of("coarse_split", "share: auto")->needs_profile());
  CHECK(policy_of("coarse_split", "{}")->needs_profile());
}

TEST_CASE("A share beyond 1 and an unknown key are findings of the deck") {
  CHECK_THROWS_AS(policy_of("coarse_split", "share: 1.5"), deck::DeckError);
  CHECK_THROWS_AS(policy_of("coarse_split", "ratio: 0.5"), deck::DeckError);
}

}  // namespace
}  // namespace zygos::policies
