// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policies/golden.hpp"
#include "policies/pipeline_checks.hpp"

#include "zygos/core/error.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::policies::test_one_f_one_b {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using schedule::TaskKind;

schedule::Schedule piped(const plan::Problem& problem, std::int64_t micro_batches,
                         bool recompute = false) {
  return one_f_one_b({micro_batches, recompute, {}})->schedule(problem, nullptr);
}

TEST_CASE("1F1B with three stages and four micro-batches makes the golden schedule") {
  CHECK(piped(test::lanes_problem(3, 10, test::chain_of(3)), 4).text() ==
        test::golden("one_f_one_b"));
}

TEST_CASE("Every 1F1B is valid, trains and evaluates, whatever the batch and the skips") {
  for (const auto& model : {test::chain_of(5), test::with_skips(), test::with_fixed_head()}) {
    for (std::size_t stages = 2; stages <= 5; ++stages) {
      for (const std::int64_t micro_batches : {1, 2, 3, 7, 12}) {
        for (const bool recompute : {false, true}) {
          CAPTURE(model.node_count(), stages, micro_batches, recompute);
          const auto schedule =
              piped(test::lanes_problem(stages, 25, model), micro_batches, recompute);

          CHECK(schedule::validate(schedule).empty());
          CHECK(schedule::validate(schedule.for_evaluation()).empty());
        }
      }
    }
  }
}

TEST_CASE("1F1B is idle for as long as GPipe") {
  for (std::size_t stages = 2; stages <= 8; ++stages) {
    for (std::int64_t micro_batches = 1; micro_batches <= 16; ++micro_batches) {
      CAPTURE(stages, micro_batches);
      const auto simulation = test::unit_times(
          piped(test::lanes_problem(stages, 64, test::chain_of(8)), micro_batches));

      CHECK(simulation.makespan_s ==
            3.0 * (static_cast<double>(micro_batches) + static_cast<double>(stages) - 1.0));
      CHECK(simulation.idle_s ==
            std::vector<double>(stages, 3.0 * static_cast<double>(stages - 1)));
    }
  }
}

TEST_CASE("Stage s of K has K - s micro-batches in flight at most, however many there are") {
  for (const auto& model : {test::chain_of(8), test::with_skips()}) {
    for (schedule::Place stages = 2; stages <= 5; ++stages) {
      for (const std::int64_t micro_batches : {1, 3, 6, 16}) {
        const auto schedule =
            piped(test::lanes_problem(static_cast<std::size_t>(stages), 32, model), micro_batches);
        for (schedule::Place stage = 0; stage < stages; ++stage) {
          CAPTURE(stages, micro_batches, stage);
          CHECK(test::max_in_flight(schedule, stage) ==
                std::min<std::int64_t>(micro_batches, stages - stage));
        }
      }
    }
  }
}

TEST_CASE("1F1B sends what GPipe sends and sums gradients in the same order") {
  const auto problem = test::lanes_problem(4, 25, test::with_skips());
  const auto alternating = piped(problem, 6);
  const auto flushed = gpipe({6, Recompute::never, {}})->schedule(problem, nullptr);

  CHECK(alternating.traffic_bytes() == flushed.traffic_bytes());
  CHECK(alternating.traffic_messages() == flushed.traffic_messages());
  CHECK(alternating.micro_batches == flushed.micro_batches);
  for (schedule::Place place = 0; place < 4; ++place) {
    CHECK(test::backward_order(alternating, place) == test::backward_order(flushed, place));
    CHECK(test::count_of(alternating, TaskKind::update, place) == 1);
  }
}

TEST_CASE("1F1B recomputes on all stages but the last, where it would save nothing") {
  const auto schedule = piped(test::lanes_problem(3, 64, test::chain_of(3)), 6, true);

  CHECK(test::count_of(schedule, TaskKind::recompute, 0) == 6);
  CHECK(test::count_of(schedule, TaskKind::recompute, 1) == 6);
  CHECK(test::count_of(schedule, TaskKind::recompute, 2) == 0);
}

TEST_CASE("1F1B refuses micro-batches that can't be, and one lane") {
  CHECK_THROWS_MATCHES(
      piped(test::host_and_device(), 101), UsageError,
      MessageMatches(ContainsSubstring("policy 'one_f_one_b'") && ContainsSubstring("is 101") &&
                     ContainsSubstring("1 to 100")));
  CHECK_THROWS_AS(piped(test::host_and_device(), 0), UsageError);
  CHECK_THROWS_AS(piped(test::lanes_problem(1, 8, test::chain_of(3)), 2), UsageError);
}

}  // namespace
}  // namespace zygos::policies::test_one_f_one_b
