// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Which ways are tried before one is recommended, and what becomes of what they took.
#include "app/contest/trials.hpp"
#include "policies/golden.hpp"
#include "tiny_run.hpp"

#include "zygos/plan/assumed_profile.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <set>

namespace zygos::test::test_trials {
namespace {

using Catch::Matchers::ContainsSubstring;
using Words = std::vector<std::string>;

/// All ways of a chain of layers on two lanes, with work enough that both are worth it.
app::Ways ways_of_two_lanes() {
  plan::Problem problem = lanes_problem(2, 48, chain_of(8));
  for (schedule::NodeOutline& node : problem.model.nodes) {
    node.flops = 1e9;
  }
  return {policies::find_ways(problem, plan::assumed_profile(problem),
                              policies::search_for(*policies::automatic())),
          {},
          {}};
}

std::size_t first_where(const app::Ways& ways, bool split) {
  return *std::ranges::find_if(ways.found.order, [&](std::size_t i) {
    return ways.found.candidates[i].is_split() == split;
  });
}

std::vector<nlohmann::json> tried_rows(const nlohmann::json& plan) {
  std::vector<nlohmann::json> tried;
  std::ranges::copy_if(plan["rows"], std::back_inserter(tried),
                       [](const auto& row) { return !row["step_s"]["tried"].is_null(); });
  return tried;
}

}  // namespace

TEST_CASE("Trials begin with the recommended way and take one of each policy before another one") {
  const app::Ways ways = ways_of_two_lanes();

  const auto chosen = app::trial_candidates(ways, 5);

  REQUIRE(chosen.size() == 5);
  CHECK(chosen.front() == ways.found.best);
  std::set<std::string> policies;
  for (const std::size_t i : chosen) {
    const bool single = ways.ways[i].choice.keyword == "single";
    policies.insert(single ? ways.found.candidates[i].policy : ways.ways[i].choice.keyword);
  }
  CHECK(policies.size() == 5);
  for (std::size_t i = 2; i < chosen.size(); ++i) {
    CHECK(ways.found.candidates[chosen[i - 1]].step_s <= ways.found.candidates[chosen[i]].step_s);
  }
}

TEST_CASE("Trials are of every way but those that may not be recommended, if so many are wanted") {
  const app::Ways ways = ways_of_two_lanes();
  const auto eligible = std::ranges::count_if(ways.found.candidates, &plan::Candidate::eligible);
  REQUIRE(eligible < std::ssize(ways.found.candidates));

  const auto chosen = app::trial_candidates(ways, 1000);

  CHECK(std::ssize(chosen) == eligible);
  CHECK(std::set(chosen.begin(), chosen.end()).size() == chosen.size());
  for (const std::size_t i : chosen) {
    CHECK(ways.found.candidates[i].eligible);
  }
}

TEST_CASE("Of trials the fastest is taken, but several lanes have to gain what they cost") {
  app::Ways ways = ways_of_two_lanes();
  const std::size_t single = first_where(ways, false);
  const std::size_t split = first_where(ways, true);
  const auto best_with = [&](double split_s) {
    ways.trials = {{single, 1.0}, {split, split_s}};
    return app::best_of_trials(ways);
  };

  CHECK(best_with(0.9) == split);
  CHECK(best_with(0.97) == single);
  CHECK(best_with(1.2) == single);
  ways.trials = {{split, 1.0}};
  CHECK(app::best_of_trials(ways) == split);
}

TEST_CASE("plan recommends what was fastest in trials, and shows what they took") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const auto plan_with = [&](const Words& words) {
    Words all{"plan", "tiny.yaml", "--json", "train.batch=160"};
    all.insert(all.end(), words.begin(), words.end());
    return json_of(all, scratch.path());
  };

  const nlohmann::json plan = plan_with({"--trials", "3"});

  const auto tried = tried_rows(plan);
  REQUIRE(tried.size() == 3);
  const auto fastest = std::ranges::min_element(
      tried, {}, [](const auto& row) { return row["step_s"]["tried"].template get<double>(); });
  const auto recommended = std::ranges::find_if(
      tried, [&](const auto& row) { return row["policy"] == plan["recommended"]; });
  REQUIRE(recommended != tried.end());
  CHECK((*recommended == *fastest ||
         (*recommended)["policy"].get<std::string>().starts_with("single")));
  CHECK(plan["deck"] == (*recommended)["deck"]);
  CHECK_THAT(plan["reason"].get<std::string>(), ContainsSubstring("of 3 ways tried for"));
  CHECK_THAT(plan["remarks"][0].get<std::string>(), ContainsSubstring("before the trials"));
  CHECK(tried_rows(plan_with({})).empty());
  CHECK(tried_rows(plan_with({"--trials", "1"})).empty());
  CHECK(tried_rows(plan_with({"policy={type: auto, trials: 2, among: [single]}"})).size() == 2);
}

TEST_CASE("auto trains with what was fastest in trials, and goes on with it") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const nlohmann::json summary =
      train_to_the_end(scratch.path(), {"policy={type: auto, trials: 4}", "train.epochs=1"});

  CHECK_THAT(summary["chosen"].get<std::string>(), ContainsSubstring("of 4 ways tried for"));
  const nlohmann::json resumed = json_of(
      {"resume", "runs/tiny", "train.epochs=2", "policy.trials=0", "--json"}, scratch.path());
  CHECK(resumed["policy"] == summary["policy"]);
  CHECK(resumed["decisions"] == summary["decisions"]);
  CHECK(resumed["chosen"] == summary["chosen"]);
}

TEST_CASE("Lanes that are assumed can't be tried") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const Outcome both =
      zygos_run({"plan", "tiny.yaml", "--assume", "h200", "--trials", "3"}, scratch.path());
  const Outcome deck = zygos_run(
      {"plan", "tiny.yaml", "--assume", "h200", "--json", "policy={type: auto, trials: 3}"},
      scratch.path());

  CHECK(both.code == 2);
  CHECK_THAT(both.err, ContainsSubstring("--trials"));
  CHECK(deck.code == 0);
  CHECK(tried_rows(nlohmann::json::parse(deck.out)).empty());
}

}  // namespace zygos::test::test_trials
