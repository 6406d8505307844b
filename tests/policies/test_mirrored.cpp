// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policies/golden.hpp"

#include "zygos/core/error.hpp"
#include "zygos/policies/policies.hpp"
#include "zygos/schedule/schedule.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::policies::test_mirrored {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

/// The text but for the name of its policy.
std::string tasks_of(const schedule::Schedule& schedule) {
  const std::string text = schedule.text();
  return text.substr(text.find(','));
}

plan::Problem on_two_ranks(plan::Problem problem) {
  problem.places.back().rank = 1;
  return problem;
}

}  // namespace

TEST_CASE("Mirrored replicas and those of several workers make the golden schedules") {
  const plan::Problem problem = test::lanes_problem(2, 12, test::chain_of(3));

  CHECK(mirrored()->schedule(problem, nullptr).text() == test::golden("mirrored"));
  CHECK(multi_worker_mirrored()->schedule(problem, nullptr).text() ==
        test::golden("multi_worker_mirrored"));
}

TEST_CASE("The presets are data_parallel with an exchange, but for the name") {
  for (const std::size_t lanes : {2UL, 3UL, 4UL}) {
    for (const std::int64_t chunk : {0, 2}) {
      plan::Problem problem = test::lanes_problem(lanes, 24, test::with_skips());
      problem.chunk = chunk;
      const auto with = [&](Exchange exchange) {
        return data_parallel({.exchange = exchange, .shares = {}})->schedule(problem, nullptr);
      };

      CHECK(tasks_of(mirrored()->schedule(problem, nullptr)) ==
            tasks_of(with(Exchange::all_reduce)));
      CHECK(tasks_of(multi_worker_mirrored()->schedule(problem, nullptr)) ==
            tasks_of(with(Exchange::ring)));
    }
  }
}

TEST_CASE("Mirrored replicas are those of one process, multi_worker_mirrored ones of all") {
  const plan::Problem problem = on_two_ranks(test::lanes_problem(2, 12, test::chain_of(3)));

  CHECK_THROWS_MATCHES(mirrored()->schedule(problem, nullptr), UsageError,
                       MessageMatches(ContainsSubstring("multi_worker_mirrored")));
  CHECK(schedule::validate(multi_worker_mirrored()->schedule(problem, nullptr)).empty());
}

TEST_CASE("One lane has no other to mirror") {
  CHECK_THROWS_MATCHES(mirrored()->schedule(test::lanes_problem(1, 12, test::chain_of(3)), nullptr),
                       UsageError, MessageMatches(ContainsSubstring("'mirrored'")));
}

}  // namespace zygos::policies::test_mirrored
