// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradient accumulation (plan::Problem::accumulate, of a deck train.accumulate) of all policies.
#include "policies/golden.hpp"

#include "zygos/core/error.hpp"
#include "zygos/deck/deck.hpp"
#include "zygos/plan/assumed_profile.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace zygos::policies::test_accumulation {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using schedule::TaskKind;

/// Two lanes, of which the second has memory of its own.
plan::Problem accumulating(std::int64_t micro_batches, std::int64_t batch = 24) {
  plan::Problem problem = test::lanes_problem(2, batch, test::chain_of(4));
  problem.one_bit.after = 10;
  problem.accumulate = micro_batches;
  return problem;
}

/// Each that can do it, with options that need no profile.
const std::map<std::string, std::string>& capable() {
  static const std::map<std::string, std::string> options{{"single", "{}"},
                                                          {"coarse_split", "{share: 0.5}"},
                                                          {"data_parallel", "{}"},
                                                          {"mirrored", "{}"},
                                                          {"multi_worker_mirrored", "{}"},
                                                          {"central_storage", "{}"},
                                                          {"one_bit_adam", "{}"},
                                                          {"zero_offload", "{}"},
                                                          {"cotrain", "{device_layers: 1}"},
                                                          {"gpipe", "{}"},
                                                          {"one_f_one_b", "{}"},
                                                          {"hippie", "{}"}};
  return options;
}

train::PolicyPtr made(const train::PolicyEntry& entry, const std::string& options) {
  return entry.make(deck::Deck::parse(options, "deck.yaml", entry.schema).root());
}

/// Different micro-batches that a place computes the gradient of.
std::map<schedule::Place, std::set<schedule::MicroBatch>> trained_by(
    const schedule::Schedule& schedule) {
  std::map<schedule::Place, std::set<schedule::MicroBatch>> found;
  for (const schedule::Task& task : schedule.tasks) {
    if (task.kind == TaskKind::backward) {
      found[task.place].insert(task.micro_batch);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("Every policy that accumulates gradients trains so many micro-batches on every place") {
  for (const train::PolicyEntry& entry : registry()) {
    const auto found = capable().find(entry.schema.name());
    if (found == capable().end()) {
      continue;
    }
    CAPTURE(entry.schema.name());
    for (const bool clips : {false, true}) {
      if (clips && entry.schema.name() == "one_bit_adam") {
        continue;
      }
      plan::Problem problem = accumulating(3);
      problem.clips = clips;
      const auto schedule = made(entry, found->second)->schedule(problem, nullptr);

      CHECK(schedule::validate(schedule).empty());
      CHECK(schedule::validate(schedule.for_evaluation()).empty());
      CHECK(schedule.updates.size() == 1);
      const auto trained = trained_by(schedule);
      CHECK_FALSE(trained.empty());
      for (const auto& [place, micro_batches] : trained) {
        CAPTURE(place);
        CHECK(micro_batches.size() == 3);
      }
    }
  }
}

TEST_CASE("Every other policy refuses train.accumulate, and names all that can do it") {
  for (const train::PolicyEntry& entry : registry()) {
    const std::string& name = entry.schema.name();
    if (capable().contains(name) || name == "auto") {
      continue;
    }
    CAPTURE(name);
    const plan::Problem problem = accumulating(3);
    const plan::Profile profile = plan::assumed_profile(problem);
    CHECK_THROWS_AS(made(entry, "{}")->schedule(problem, &profile), UsageError);
  }
  for (const auto& policy : {layer_placement({}), pipedream({}), pipedream_2bw({})}) {
    CAPTURE(policy->keyword());
    CHECK_THROWS_MATCHES(policy->schedule(accumulating(3), nullptr), UsageError,
                         MessageMatches(ContainsSubstring("train.accumulate is 3")));
    for (const auto& [keyword, options] : capable()) {
      CHECK_THROWS_MATCHES(policy->schedule(accumulating(3), nullptr), UsageError,
                           MessageMatches(ContainsSubstring(keyword)));
    }
  }
}

TEST_CASE("One micro-batch is what every policy without micro-batches does anyway") {
  const auto policy = layer_placement({});

  CHECK(policy->schedule(accumulating(1), nullptr).text() ==
        policy->schedule(accumulating(0), nullptr).text());
}

TEST_CASE("train.accumulate makes the schedule of as many micro_batches of the policy") {
  const auto same = [](const train::PolicyPtr& open, const train::PolicyPtr& said) {
    CAPTURE(open->keyword());
    const std::string accumulated = open->schedule(accumulating(3), nullptr).text();
    CHECK(accumulated == said->schedule(accumulating(0), nullptr).text());
    CHECK(accumulated == said->schedule(accumulating(3), nullptr).text());
    CHECK(accumulated != open->schedule(accumulating(0), nullptr).text());
  };
  const StageOptions stages;
  same(single({}), single({.place = {}, .micro_batches = 3}));
  same(data_parallel({.shares = {}}), data_parallel({.shares = {}, .micro_batches = 3}));
  same(gpipe({.stages = stages}), gpipe({.micro_batches = 3, .stages = stages}));
  same(one_f_one_b({.stages = stages}), one_f_one_b({.micro_batches = 3, .stages = stages}));
  same(hippie({.stages = stages}), hippie({.micro_batches = 3, .stages = stages}));
}

TEST_CASE("micro_batches that differ from train.accumulate are refused with both") {
  const StageOptions stages;
  for (const auto& policy : {single({.place = {}, .micro_batches = 4}),
                             data_parallel({.shares = {}, .micro_batches = 4}),
                             gpipe({.micro_batches = 4, .stages = stages}),
                             one_f_one_b({.micro_batches = 4, .stages = stages}),
                             hippie({.micro_batches = 4, .stages = stages})}) {
    CAPTURE(policy->keyword());
    CHECK_THROWS_MATCHES(policy->schedule(accumulating(3), nullptr), UsageError,
                         MessageMatches(ContainsSubstring("train.accumulate is 3") &&
                                        ContainsSubstring("policy.micro_batches is 4") &&
                                        ContainsSubstring("leave one of them out")));
  }
}

TEST_CASE("More micro-batches than samples are refused by the name that the deck has for them") {
  CHECK_THROWS_MATCHES(single({})->schedule(accumulating(25), nullptr), UsageError,
                       MessageMatches(ContainsSubstring(
                           "train.accumulate is 25; 24 samples can be divided into 1 to 24")));
  CHECK_THROWS_MATCHES(hippie({.stages = {}})->schedule(accumulating(13), nullptr), UsageError,
                       MessageMatches(ContainsSubstring("replicas times train.accumulate is 26")));
  plan::Problem strict = accumulating(4);
  strict.chunk = 8;
  CHECK_THROWS_MATCHES(mirrored()->schedule(strict, nullptr), UsageError,
                       MessageMatches(ContainsSubstring("train.accumulate is 4") &&
                                      ContainsSubstring("in chunks of 8")));
}

TEST_CASE("Workers that have weights only while they use them can't accumulate") {
  const auto policy = zero_offload({.owner = {}, .weights = schedule::Tier::host});

  CHECK(schedule::validate(policy->schedule(accumulating(1), nullptr)).empty());
  CHECK_THROWS_MATCHES(policy->schedule(accumulating(2), nullptr), UsageError,
                       MessageMatches(ContainsSubstring("train.accumulate is 2") &&
                                      ContainsSubstring("weights: host")));
}

TEST_CASE("What a planner tries of a pipeline has the micro-batches of train.accumulate") {
  const plan::Problem problem = accumulating(3);
  for (const auto& policy :
       {gpipe({.stages = {}}), one_f_one_b({.stages = {}}), hippie({.stages = {}})}) {
    CAPTURE(policy->keyword());
    const auto candidates = policy->candidates(problem, nullptr);
    CHECK_FALSE(candidates.empty());
    for (const train::PolicyOptions& options : candidates) {
      for (const auto& [key, value] : options) {
        CHECK((key != "micro_batches" || value == "3"));
      }
    }
  }
}

}  // namespace zygos::policies::test_accumulation
