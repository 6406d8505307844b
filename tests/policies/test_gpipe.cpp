// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policies/golden.hpp"
#include "policies/pipeline_checks.hpp"

#include "zygos/core/error.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <numeric>

namespace zygos::policies::test_gpipe {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using schedule::TaskKind;

schedule::Schedule piped(const plan::Problem& problem, std::int64_t micro_batches,
                         Recompute recompute = Recompute::never) {
  return gpipe({micro_batches, recompute, {}})->schedule(problem, nullptr);
}

TEST_CASE("GPipe with two stages and three micro-batches makes the golden schedule") {
  CHECK(piped(test::host_and_device(), 3).text() == test::golden("gpipe"));
}

TEST_CASE("GPipe that recomputes makes the golden schedule") {
  CHECK(piped(test::host_and_device(), 2, Recompute::always).text() ==
        test::golden("gpipe_recompute"));
}

TEST_CASE("Every GPipe is valid, trains and evaluates, whatever the batch and the skips") {
  for (const auto& model : {test::chain_of(5), test::with_skips(), test::with_fixed_head()}) {
    for (std::size_t stages = 2; stages <= 5; ++stages) {
      for (const std::int64_t micro_batches : {1, 2, 3, 7, 12}) {
        for (const Recompute recompute :
             {Recompute::never, Recompute::except_last, Recompute::always}) {
          CAPTURE(model.node_count(), stages, micro_batches);
          const auto schedule =
              piped(test::lanes_problem(stages, 25, model), micro_batches, recompute);

          CHECK(schedule::validate(schedule).empty());
          CHECK(schedule::validate(schedule.for_evaluation()).empty());
        }
      }
    }
  }
}

TEST_CASE("GPipe is idle for K - 1 of M + K - 1, on every stage") {
  for (std::size_t stages = 2; stages <= 8; ++stages) {
    for (std::int64_t micro_batches = 1; micro_batches <= 16; ++micro_batches) {
      CAPTURE(stages, micro_batches);
      const auto schedule =
          piped(test::lanes_problem(stages, 64, test::chain_of(8)), micro_batches);
      const auto simulation = test::unit_times(schedule);
      const auto slots = static_cast<double>(micro_batches) + static_cast<double>(stages) - 1.0;

      CHECK(simulation.makespan_s == 3.0 * slots);
      CHECK(simulation.idle_s ==
            std::vector<double>(stages, 3.0 * static_cast<double>(stages - 1)));
    }
  }
}

TEST_CASE("A recompute overlaps the wait for gradients") {
  const double stages = 4.0;
  const double micro_batches = 8.0;
  const auto problem = test::lanes_problem(4, 64, test::with_skips());

  const auto always = test::unit_times(piped(problem, 8, Recompute::always));
  const auto except_last = test::unit_times(piped(problem, 8, Recompute::except_last));

  CHECK(always.makespan_s ==
        (micro_batches + stages - 1.0) + 3.0 * micro_batches + 2.0 * (stages - 1.0));
  CHECK(except_last.makespan_s == always.makespan_s - 1.0);
}

TEST_CASE("GPipe recomputes all micro-batches, all but the last, or none") {
  const auto problem = test::lanes_problem(3, 64, test::chain_of(3));
  for (const auto& [recompute, count] :
       {std::pair{Recompute::never, 0}, std::pair{Recompute::except_last, 5},
        std::pair{Recompute::always, 6}}) {
    const auto schedule = piped(problem, 6, recompute);
    for (schedule::Place place = 0; place < 3; ++place) {
      CHECK(test::count_of(schedule, TaskKind::recompute, place) == count);
      CHECK(test::max_in_flight(schedule, place) == 6);
    }
  }
}

TEST_CASE("GPipe sums gradients in the order of the micro-batches and updates once") {
  const auto schedule = piped(test::lanes_problem(4, 64, test::with_skips()), 5);
  std::vector<schedule::MicroBatch> ascending(5);
  std::iota(ascending.begin(), ascending.end(), 0);

  for (schedule::Place place = 0; place < 4; ++place) {
    CHECK(test::backward_order(schedule, place) == ascending);
    CHECK(test::count_of(schedule, TaskKind::update, place) == 1);
  }
}

TEST_CASE("A cut of GPipe carries twice the activations of the batch, in 2 M messages") {
  for (const std::int64_t micro_batches : {1, 3, 8}) {
    const auto schedule = piped(test::host_and_device(), micro_batches);

    CHECK(schedule.traffic_bytes() == 2 * 100 * 40);
    CHECK(schedule.traffic_messages() == 2 * micro_batches);
  }
}

TEST_CASE("Micro-batches differ by at most one sample") {
  const auto schedule = piped(test::host_and_device(), 7);

  for (const schedule::SampleRange& samples : schedule.micro_batches) {
    CHECK((samples.count() == 14 || samples.count() == 15));
  }
}

TEST_CASE("In strict mode micro-batches end with a chunk") {
  plan::Problem problem = test::host_and_device();
  problem.chunk = 8;

  const auto schedule = piped(problem, 3);

  CHECK(schedule.micro_batches == std::vector<schedule::SampleRange>{{0, 32}, {32, 64}, {64, 100}});
  CHECK_THROWS_MATCHES(
      piped(problem, 14), UsageError,
      MessageMatches(ContainsSubstring("1 to 13") && ContainsSubstring("chunks of 8")));
}

TEST_CASE("Fewer micro-batches than one and more than samples are refused with what is allowed") {
  CHECK_THROWS_MATCHES(piped(test::host_and_device(), 0), UsageError,
                       MessageMatches(ContainsSubstring("policy 'gpipe': micro_batches is 0") &&
                                      ContainsSubstring("1 to 100")));
  CHECK_THROWS_MATCHES(piped(test::host_and_device(), 101), UsageError,
                       MessageMatches(ContainsSubstring("micro_batches is 101")));
  CHECK_THROWS_AS(piped(test::lanes_problem(1, 8, test::chain_of(3)), 2), UsageError);
  CHECK_THROWS_AS(piped(test::lanes_problem(4, 8, test::chain_of(3)), 2), UsageError);
}

}  // namespace
}  // namespace zygos::policies::test_gpipe
