// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a policy decides from measurements can be said in a deck, and what it offers a planner can
// be run: for every policy there is.
#include "policies/golden.hpp"

#include "zygos/core/error.hpp"
#include "zygos/deck/deck.hpp"
#include "zygos/plan/assumed_profile.hpp"
#include "zygos/plan/staleness.hpp"
#include "zygos/policies/choice.hpp"
#include "zygos/policies/policies.hpp"
#include "zygos/schedule/schedule.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string>

namespace zygos::policies::test_decisions {
namespace {

train::PolicyPtr policy_with(const train::PolicyEntry& entry, const train::PolicyOptions& options) {
  std::string text = "{";
  for (const auto& [key, value] : options) {
    text += (text.size() > 1 ? ", " : "") + key + ": " + value;
  }
  return entry.make(deck::Deck::parse(text + "}", "deck.yaml", entry.schema).root());
}

/// The later a place, the faster it is, and the first layers cost more than FLOPs say.
plan::Profile uneven_profile(const plan::Problem& problem) {
  plan::Profile profile = plan::assumed_profile(problem);
  for (std::size_t place = 0; place < profile.places.size(); ++place) {
    const double factor = 5.0 / (1.0 + static_cast<double>(place));
    for (plan::PlaceCosts* costs :
         {&profile.places[place].alone, &profile.places[place].together}) {
      for (std::size_t node = 0; node < costs->forward.size(); ++node) {
        const double head = node < 2 ? 4.0 : 1.0;
        costs->forward[node] = costs->forward[node].scaled(factor * head);
        costs->backward[node] = costs->backward[node].scaled(factor * head);
      }
    }
  }
  return profile;
}

/// Layers of 32 parameters, the first two of eight units that can be cut between lanes.
schedule::ModelOutline with_pair() {
  schedule::ModelOutline model = test::chain_of(8);
  const CutAxis units{1, 8, 1};
  model.nodes[0].shards.outputs = {{{}, units}, {4}, {0}};
  model.nodes[1].shards.inputs = {{units, {}}, {4}, {0}};
  return model;
}

std::vector<plan::Problem> problems() {
  plan::Problem strict = test::lanes_problem(2, 48, test::chain_of(8));
  strict.chunk = 4;
  return {test::lanes_problem(2, 48, with_pair()), test::lanes_problem(3, 48, test::with_skips()),
          strict};
}

/// Of a preset another policy has the candidates.
bool is_preset(const std::string& keyword) {
  return keyword == "central_storage" || keyword.ends_with("mirrored");
}

/// Empty if the policy refuses the problem.
std::string schedule_text(const train::PolicyPtr& policy, const plan::Problem& problem,
                          const plan::Profile* profile) {
  try {
    const schedule::Schedule made = policy->schedule(problem, profile);
    CHECK(schedule::validate(made).empty());
    return made.text();
  } catch (const UsageError&) {
    return {};
  }
}

}  // namespace

TEST_CASE("With what a policy decided as options it makes the same schedule without a profile") {
  for (const plan::Problem& problem : problems()) {
    const plan::Profile profile = uneven_profile(problem);
    for (const train::PolicyEntry& entry : registry()) {
      CAPTURE(entry.schema.name(), problem.places.size(), problem.chunk);
      const auto policy = policy_with(entry, {});
      const std::string text = schedule_text(policy, problem, &profile);
      if (text.empty() || policy->chosen_by_planner()) {
        continue;
      }
      const auto decisions = policy->decisions(problem, policy->schedule(problem, &profile));

      const auto fixed = policy_with(entry, decisions);

      CHECK_FALSE(fixed->needs_profile());
      CHECK(fixed->schedule(problem, nullptr).text() == text);
      CHECK(fixed->schedule(problem, &profile).text() == text);
      CHECK(fixed->decisions(problem, fixed->schedule(problem, nullptr)).empty());
    }
  }
}

TEST_CASE("What a coarse split with a pipeline decides can be said in a deck, cuts included") {
  plan::Problem problem = test::lanes_problem(3, 48, test::with_skips());
  const plan::Profile profile = uneven_profile(problem);
  const auto entries = registry();
  const auto entry = std::ranges::find_if(
      entries, [](const auto& one) { return one.schema.name() == "coarse_split"; });
  for (const std::string share : {"auto", "0.25", "1"}) {
    for (const std::string lanes : {"[l1, l2]", "[l2, l0]"}) {
      CAPTURE(share, lanes);
      const train::PolicyOptions given{{"share", share},
                                       {"pipeline", "{lanes: " + lanes + ", schedule: gpipe}"}};
      const auto policy = policy_with(*entry, given);
      const auto made = policy->schedule(problem, &profile);
      const auto decisions = policy->decisions(problem, made);

      const auto fixed = policy_with(*entry, merged(given, decisions));

      CHECK(decisions.size() == (share == "auto" ? 2U : made.stages.size() == 1 ? 0U : 1U));
      CHECK_FALSE(fixed->needs_profile());
      CHECK(fixed->schedule(problem, nullptr).text() == made.text());
      CHECK(fixed->decisions(problem, made).empty());
    }
  }
}

TEST_CASE("A profile moves the cuts of a pipeline to where the time goes") {
  const plan::Problem problem = test::lanes_problem(2, 48, test::chain_of(8));
  const plan::Profile profile = uneven_profile(problem);
  for (const char* keyword : {"layer_placement", "gpipe", "one_f_one_b", "pipedream"}) {
    CAPTURE(keyword);
    const auto entries = registry();
    const auto entry = std::ranges::find_if(
        entries, [&](const auto& one) { return one.schema.name() == keyword; });
    const auto policy = policy_with(*entry, {});

    const auto measured = policy->schedule(problem, &profile);
    const auto unmeasured = policy->schedule(problem, nullptr);

    CHECK((measured.stages[0].end != unmeasured.stages[0].end ||
           measured.stage_of != unmeasured.stage_of));
  }
}

TEST_CASE("Every candidate of every policy is a deck's options, and most of them run") {
  for (const plan::Problem& problem : problems()) {
    const plan::Profile profile = uneven_profile(problem);
    for (const train::PolicyEntry& entry : registry()) {
      CAPTURE(entry.schema.name(), problem.places.size(), problem.chunk);
      const auto policy = policy_with(entry, {});
      std::size_t run = 0;
      const auto candidates = policy->candidates(problem, &profile);
      CHECK(policy->candidates(problem, nullptr).empty() == is_preset(entry.schema.name()));
      for (const train::PolicyOptions& options : candidates) {
        const std::string text = schedule_text(policy_with(entry, options), problem, &profile);
        run += text.empty() ? std::size_t{0} : std::size_t{1};
      }
      const bool asynchronous = entry.schema.name().starts_with("pipedream");
      const bool pair = problem.model.nodes.front().shards.outputs.form.units() > 0;
      const bool refused = (problem.chunk > 0 && asynchronous) ||
                           (problem.one_bit.after == 0 && entry.schema.name() == "one_bit_adam") ||
                           (!pair && entry.schema.name() == "tensor_parallel") ||
                           // no layer has more parameters than 48 samples have inputs
                           entry.schema.name() == "hybrid_conv_fc";
      CHECK(run == (refused ? std::size_t{0} : candidates.size()));
    }
  }
}

TEST_CASE("In strict mode a share is a number of whole chunks") {
  plan::Problem problem = test::lanes_problem(2, 50, test::chain_of(3));
  problem.chunk = 8;
  const auto samples = [&](double share) {
    return coarse_split({.share = share, .samples = {}})
        ->schedule(problem, nullptr)
        .samples_of(0)
        .count();
  };

  CHECK(samples(0.5) == 24);
  CHECK(samples(0.3) == 16);
  CHECK(samples(1.0) == 50);
  CHECK(samples(0.01) == 0);
}

TEST_CASE("Staleness is what the papers say: K-1-s for PipeDream, one for 2BW, else none") {
  const plan::Problem problem = test::lanes_problem(4, 64, test::chain_of(8));
  const auto stale = [&](const train::PolicyPtr& policy) {
    return plan::staleness(policy->schedule(problem, nullptr));
  };

  CHECK(stale(pipedream({.micro_batches = 8, .replicas = {}, .stages = {}})) ==
        std::vector<std::int32_t>{3, 2, 1, 0});
  CHECK(
      stale(pipedream({.micro_batches = 8, .replicas = {}, .vertical_sync = true, .stages = {}})) ==
      std::vector<std::int32_t>{3, 3, 3, 3});
  CHECK(stale(pipedream_2bw({})) == std::vector<std::int32_t>{1, 1, 1, 1});
  CHECK(stale(gpipe({})) == std::vector<std::int32_t>{0, 0, 0, 0});
  CHECK(stale(data_parallel({})) == std::vector<std::int32_t>{0, 0, 0, 0});
  CHECK_FALSE(plan::is_synchronous(pipedream({})->schedule(problem, nullptr)));
  CHECK(plan::is_synchronous(one_f_one_b({})->schedule(problem, nullptr)));
}

}  // namespace zygos::policies::test_decisions
