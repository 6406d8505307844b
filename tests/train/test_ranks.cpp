// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ranks_run.hpp"

#include <catch2/catch_test_macros.hpp>

#include <mutex>
#include <set>

namespace {

using namespace zygos;
using test::RankRun;

struct Outcome {
  std::string hash;
  double loss = 0.0;
  std::vector<double> gradient;
};

Outcome five_steps(test::SmallRun& run, const train::PolicyPtr& policy) {
  const auto engine = run.engine(run.schedule_of(policy));
  Outcome outcome;
  for (std::uint64_t step = 1; step <= 5; ++step) {
    outcome.loss = engine->step(run.batch(), step).loss;
  }
  outcome.loss += engine->evaluate(run.batch()).loss;
  outcome.gradient = engine->gradient();
  outcome.hash = engine->weights_hash();
  return outcome;
}

std::vector<std::pair<int, train::PolicyPtr>> policies_for_ranks() {
  return {
      {2, policies::coarse_split({.share = {}, .samples = 13})},
      {2, policies::layer_placement({.stages = {.cuts = {"fc2"}, .lanes = {}}})},
      {3, policies::layer_placement({.stages = {.cuts = {"drop", "fc2"}, .lanes = {}}})},
  };
}

}  // namespace

TEST_CASE("Lanes on several ranks give the same bits as in one process", "[train][ranks]") {
  for (const auto& [lanes, policy] : policies_for_ranks()) {
    const auto specs = test::equal_workers(lanes);
    test::SmallRun together(specs);
    const Outcome expected = five_steps(together, policy);
    for (int ranks = 2; ranks <= lanes; ++ranks) {
      CAPTURE(std::string(policy->keyword()), lanes, ranks);
      std::mutex mutex;
      int same = 0;
      const auto failures = test::as_ranks(ranks, [&](comm::Communicator& communicator) {
        RankRun run(specs, communicator);
        const Outcome found = five_steps(run, policy);
        const std::lock_guard lock(mutex);
        same += found.hash == expected.hash && found.loss == expected.loss &&
                        found.gradient == expected.gradient
                    ? 1
                    : 0;
      });
      CHECK(same == ranks);
    }
  }
}

TEST_CASE("A rank that fails makes the others stop with a PeerError", "[train][ranks]") {
  const auto specs = test::equal_workers(2);
  const auto failures = test::as_ranks(2, [&](comm::Communicator& communicator) {
    RankRun run(specs, communicator);
    const auto policy = policies::coarse_split({.share = {}, .samples = 13});
    const auto engine = run.engine(run.schedule_of(policy));
    engine->step(run.batch(), 1);
    auto batch = run.batch();
    if (communicator.rank() == 1) {
      // Integer targets are promised; floats make the gather on the lane's own thread fail.
      batch.targets = run.rows.inputs;
      batch.targets.row_elements = 1;
    }
    engine->step(batch, 2);
  });
  REQUIRE(failures[0] != nullptr);
  REQUIRE(failures[1] != nullptr);
  CHECK_THROWS_AS(std::rethrow_exception(failures[0]), PeerError);
  CHECK_THROWS_AS(std::rethrow_exception(failures[1]), LaneError);
}
