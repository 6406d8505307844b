// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policies/golden.hpp"
#include "policies/pipeline_checks.hpp"

#include "zygos/core/error.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::policies::test_pipedream_2bw {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using schedule::SampleRange;
using schedule::Task;
using schedule::TaskKind;

schedule::Schedule piped(const plan::Problem& problem, std::int64_t updates,
                         std::int64_t accumulate = 0) {
  return pipedream_2bw({updates, accumulate, {}})->schedule(problem, nullptr);
}

TEST_CASE("PipeDream-2BW with two stages and three updates of two makes the golden schedule") {
  CHECK(piped(test::host_and_device(), 3).text() == test::golden("pipedream_2bw"));
}

TEST_CASE("PipeDream-2BW refuses a file, which would free nothing, and says so") {
  CHECK_THROWS_MATCHES(
      pipedream_2bw({.updates = 2, .stages = {}, .stash = schedule::Tier::file}), UsageError,
      MessageMatches(ContainsSubstring("stash is file") && ContainsSubstring("two versions")));
}

TEST_CASE("Every PipeDream-2BW is valid, trains and evaluates") {
  for (const auto& model : {test::chain_of(5), test::with_skips(), test::with_fixed_head()}) {
    for (std::int64_t stages = 2; stages <= 5; ++stages) {
      for (std::int64_t updates = 1; updates <= 5; ++updates) {
        for (const std::int64_t more : {0, 1, 3}) {
          CAPTURE(model.node_count(), stages, updates, more);
          const auto schedule =
              piped(test::lanes_problem(static_cast<std::size_t>(stages), 43, model), updates,
                    stages + more);

          CHECK(schedule::validate(schedule).empty());
          CHECK(schedule::validate(schedule.for_evaluation()).empty());
        }
      }
    }
  }
}

TEST_CASE("Two versions are enough on every stage") {
  for (std::size_t stages = 2; stages <= 5; ++stages) {
    const auto schedule = piped(test::lanes_problem(stages, 64, test::with_skips()), 6);
    for (const schedule::Place place : schedule.active_places()) {
      CHECK(test::versions_of(schedule, place) == 2);
    }
  }
}

TEST_CASE("A gradient is one update old on every stage, but for the first of a step") {
  for (std::size_t stages = 2; stages <= 5; ++stages) {
    for (const std::int64_t accumulate : {5, 8}) {
      const auto schedule =
          piped(test::lanes_problem(stages, 64, test::with_skips()), 5, accumulate);
      for (const schedule::Place place : schedule.active_places()) {
        CAPTURE(stages, accumulate, place);
        CHECK(test::staleness_of(schedule, place) == std::vector<std::int32_t>{0, 1, 1, 1, 1});
      }
    }
  }
}

TEST_CASE("An update averages over the samples of its micro-batches") {
  const auto schedule = piped(test::host_and_device(), 4, 3);

  CHECK(schedule.micro_batches.size() == 12);
  CHECK(schedule.updates == std::vector<SampleRange>{{0, 25}, {25, 50}, {50, 75}, {75, 100}});
  for (const Task& task : schedule.tasks) {
    if (task.kind == TaskKind::loss) {
      CHECK(task.update == task.micro_batch / 3);
    }
    if (task.kind == TaskKind::backward) {
      CHECK(task.accumulates == (task.micro_batch % 3 != 0));
    }
  }
  CHECK(test::count_of(schedule, TaskKind::update, 0) == 4);
  CHECK(test::count_of(schedule, TaskKind::update, 1) == 4);
}

TEST_CASE("PipeDream-2BW does not wait between updates") {
  const auto simulation =
      test::unit_times(piped(test::lanes_problem(4, 64, test::chain_of(4)), 4, 4));

  CHECK(simulation.makespan_s == 3.0 * (16.0 + 4.0 - 1.0));
}

TEST_CASE("PipeDream-2BW has as many micro-batches in flight as 1F1B") {
  const auto schedule = piped(test::lanes_problem(4, 64, test::with_skips()), 4, 5);

  for (schedule::Place stage = 0; stage < 4; ++stage) {
    CHECK(test::max_in_flight(schedule, stage) == 4 - stage);
  }
}

TEST_CASE("PipeDream-2BW refuses groups smaller than the pipeline and too many micro-batches") {
  const auto problem = test::lanes_problem(3, 20, test::chain_of(4));
  plan::Problem strict = problem;
  strict.chunk = 4;

  CHECK_THROWS_MATCHES(
      piped(problem, 4, 2), UsageError,
      MessageMatches(ContainsSubstring("policy 'pipedream_2bw'") &&
                     ContainsSubstring("accumulate is 2") && ContainsSubstring("3 stages")));
  CHECK_THROWS_MATCHES(piped(problem, 4, 6), UsageError,
                       MessageMatches(ContainsSubstring("updates times accumulate is 24") &&
                                      ContainsSubstring("1 to 20")));
  // 4 times this is 4 in 64 bits.
  CHECK_THROWS_MATCHES(piped(problem, 4, (std::int64_t{1} << 62) + 1), UsageError,
                       MessageMatches(ContainsSubstring("updates times accumulate is 92233720")));
  CHECK_THROWS_AS(piped(problem, 0), UsageError);
  CHECK_THROWS_AS(piped(problem, 2, -1), UsageError);
  CHECK_THROWS_MATCHES(piped(strict, 1), UsageError,
                       MessageMatches(ContainsSubstring("strict mode")));
  CHECK_THROWS_AS(piped(test::lanes_problem(1, 8, test::chain_of(3)), 2), UsageError);
}

}  // namespace
}  // namespace zygos::policies::test_pipedream_2bw
