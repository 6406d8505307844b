// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policies/golden.hpp"

#include "zygos/core/error.hpp"
#include "zygos/deck/deck.hpp"
#include "zygos/plan/assumed_profile.hpp"
#include "zygos/plan/staleness.hpp"
#include "zygos/policies/policies.hpp"
#include "zygos/policies/ways.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <set>

namespace zygos::policies::test_auto {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

/// Work enough that two lanes are worth it.
plan::Problem two_lanes() {
  plan::Problem problem = test::lanes_problem(2, 48, test::chain_of(8));
  for (schedule::NodeOutline& node : problem.model.nodes) {
    node.flops = 1e9;
  }
  return problem;
}

std::set<std::string> keywords_of(const Ways& ways) {
  std::set<std::string> keywords;
  for (const Way& way : ways.ways) {
    keywords.insert(way.choice.keyword);
  }
  return keywords;
}

Ways ways_of(const plan::Problem& problem, const train::PolicyPtr& policy) {
  return find_ways(problem, plan::assumed_profile(problem), search_for(*policy));
}

}  // namespace

TEST_CASE("Policy auto makes the schedule of the way that is recommended") {
  const plan::Problem problem = two_lanes();
  const plan::Profile profile = plan::assumed_profile(problem);
  const Ways ways = ways_of(problem, automatic());

  const schedule::Schedule made = automatic()->schedule(problem, &profile);

  CHECK(made.text() == ways.best().schedule.text());
  CHECK(made.active_places().size() == 2);
  CHECK(ways.best().eligible);
}

TEST_CASE("What auto decided, as options of the policy it chose, makes the same schedule") {
  const plan::Problem problem = two_lanes();
  for (const auto& among : {std::vector<std::string>{},
                            {"gpipe"},
                            {"layer_placement"},
                            {"single"},
                            {"coarse_split", "cotrain"}}) {
    const Ways ways = ways_of(problem, automatic(among));

    const PolicyChoice decided = ways.best_way().decided();

    CHECK(ways.best().schedule.policy == decided.keyword);
    CHECK(policy_from(decided)->schedule(problem, nullptr).text() == ways.best().schedule.text());
  }
}

TEST_CASE("Only the policies that are named are looked at") {
  const Ways ways = ways_of(two_lanes(), automatic({"single", "gpipe", "mirrored"}));

  CHECK(keywords_of(ways) == std::set<std::string>{"single", "gpipe", "mirrored"});
}

TEST_CASE("A faster policy that learns something else is chosen only where it is named") {
  const plan::Problem problem = two_lanes();
  const plan::Profile profile = plan::assumed_profile(problem);
  WaySearch search{.among = {"layer_placement", "pipedream"}};
  const auto is_synchronous = [&] {
    return plan::is_synchronous(find_ways(problem, profile, search).best().schedule);
  };

  CHECK(is_synchronous());
  search.named = {"pipedream"};
  CHECK_FALSE(is_synchronous());
  CHECK(search_for(*automatic()).named.empty());
  CHECK(search_for(*automatic(search.among)).named == search.among);
}

TEST_CASE("What does not fit is no choice, and nothing fitting is said") {
  const plan::Problem problem = two_lanes();
  const plan::Profile profile = plan::assumed_profile(problem);
  WaySearch search = search_for(*automatic());
  const std::string best = find_ways(problem, profile, search).best().schedule.policy;
  search.memory = [&](const schedule::Schedule& schedule) -> std::vector<memory::Usage> {
    if (schedule.policy == best) {
      throw MemoryError("it is too large");
    }
    return std::vector<memory::Usage>(2);
  };

  const Ways ways = find_ways(problem, profile, search);

  CHECK(ways.best().schedule.policy != best);
  CHECK(ways.best().peak.size() == 2);
  CHECK(std::ranges::any_of(ways.found.refusals, [&](const plan::Refusal& refusal) {
    return refusal.policy.starts_with(best) && refusal.reason == "it is too large";
  }));
  search.memory = [](const schedule::Schedule&) -> std::vector<memory::Usage> {
    throw MemoryError("it is too large");
  };
  CHECK_THROWS_AS(find_ways(problem, profile, search), MemoryError);
}

TEST_CASE("A name that is no policy, and policies of which none can run, are refused") {
  const plan::Problem problem = two_lanes();
  CHECK_THROWS_MATCHES(ways_of(problem, automatic({"single", "gpip"})), UsageError,
                       MessageMatches(ContainsSubstring("'gpip'") && ContainsSubstring("gpipe")));
  CHECK_THROWS_AS(ways_of(problem, automatic({"auto"})), UsageError);
  CHECK_THROWS_MATCHES(ways_of(problem, automatic({"one_bit_adam"})), UsageError,
                       MessageMatches(ContainsSubstring("no policy of those named") &&
                                      ContainsSubstring("set optimizer.type to one_bit_adam")));
}

TEST_CASE("A deck names policies to choose from, or all") {
  CHECK(policy_from({"auto", {}})->among().empty());
  CHECK(policy_from({"auto", {{"among", "[single, gpipe]"}}})->among() ==
        std::vector<std::string>{"single", "gpipe"});
  CHECK_THROWS_AS(policy_from({"auto", {{"among", "[]"}}}), deck::DeckError);
}

}  // namespace zygos::policies::test_auto
