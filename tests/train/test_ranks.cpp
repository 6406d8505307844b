// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policy_models.hpp"
#include "ranks_run.hpp"

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <mutex>
#include <set>
#include <thread>

namespace zygos::train::test_ranks {
namespace {

using test::RankRun;

/// A policy on so many lanes, and with what optimizer.
struct RankCase {
  int lanes;
  train::PolicyPtr policy;
  nn::OptimizerPtr optimizer = nn::adam({});
  graph::Graph graph = test::small_model();
};

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

std::vector<RankCase> cases_for_ranks() {
  const auto clips = nn::clipped(nn::adam({}), 0.01);
  return {
      {3, policies::layer_placement({.stages = {.cuts = {"drop", "fc2"}, .lanes = {}}}), clips},
      {2, policies::gpipe({.micro_batches = 4, .stages = {.cuts = {"fc2"}, .lanes = {}}}), clips},
      {3, policies::data_parallel({.exchange = policies::Exchange::sharded, .shares = {}}), clips},
      {2, policies::coarse_split({.share = {}, .samples = 13})},
      {3,
       policies::coarse_split({.share = {},
                               .samples = 13,
                               .pipeline =
                                   policies::SplitPipelineOptions{
                                       .stages = {.cuts = {"fc2"}, .lanes = {"worker1", "worker2"}},
                                       .micro_batches = 3}}),
       clips},
      {3, policies::one_bit_adam({}), nn::one_bit_adam({.freeze = 1})},
      {3, policies::data_parallel({.shares = {}, .micro_batches = 2}), nn::adam({}),
       test::normalised_model().graph},
      {2, policies::layer_placement({.stages = {.cuts = {"fc2"}, .lanes = {}}})},
      {3, policies::layer_placement({.stages = {.cuts = {"drop", "fc2"}, .lanes = {}}})},
  };
}

}  // namespace

TEST_CASE("Lanes on several ranks give the same bits as in one process", "[train][ranks]") {
  for (const auto& [lanes, policy, optimizer, graph] : cases_for_ranks()) {
    const auto specs = test::equal_workers(lanes);
    test::SmallRun together(specs);
    together.optimizer = optimizer;
    together.use(graph);
    const Outcome expected = five_steps(together, policy);
    for (int ranks = 2; ranks <= lanes; ++ranks) {
      CAPTURE(std::string(policy->keyword()), lanes, ranks);
      std::mutex mutex;
      int same = 0;
      const auto failures = test::as_ranks(ranks, [&](comm::Communicator& communicator) {
        RankRun run(specs, communicator);
        run.optimizer = optimizer;
        run.use(graph);
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

TEST_CASE("A gathered trace has the tasks of all lanes, on one clock", "[train][ranks]") {
  const auto specs = test::equal_workers(2);
  std::vector<double> gaps(2);
  const auto failures = test::as_ranks(2, [&](comm::Communicator& communicator) {
    if (communicator.rank() == 1) {
      std::this_thread::sleep_for(
          std::chrono::milliseconds(300));  // its engine's clock starts later
    }
    RankRun run(specs, communicator);
    const auto engine = run.engine(
        run.schedule_of(policies::layer_placement({.stages = {.cuts = {"fc2"}, .lanes = {}}})));
    for (std::uint64_t step = 1; step <= 3; ++step) {
      engine->step(run.batch(), step);
    }
    engine->gather_trace();
    const schedule::Schedule& schedule = engine->schedule();
    std::vector<train::TaskRecord> last(schedule.tasks.size());
    for (std::size_t line = 0; line < specs.size() * schedule::queue_count; ++line) {
      for (const train::TaskRecord& record : engine->trace().of(line)) {
        last[static_cast<std::size_t>(record.task)] = record;
      }
    }
    double& gap = gaps[static_cast<std::size_t>(communicator.rank())];
    for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
      if (last[id].step != 3) {
        gap = -1e9;  // a task is missing
      }
      for (const schedule::TaskId before : schedule.tasks[id].after) {
        gap = std::min(gap, last[id].start_s - last[static_cast<std::size_t>(before)].end_s);
      }
    }
  });
  CHECK(failures == std::vector<std::exception_ptr>(2));
  // What follows a message starts after it; clocks agree but for what a barrier takes.
  CHECK(gaps[0] > -0.1);
  CHECK(gaps[0] == gaps[1]);
}

}  // namespace zygos::train::test_ranks
