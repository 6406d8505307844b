// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/two_places.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/cluster.hpp"
#include "zygos/plan/formulas.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <algorithm>

namespace zygos::plan::test_cluster {
namespace {

using Catch::Matchers::WithinRel;
using schedule::TaskKind;

/// Like the measured device of two_places.hpp: 3 nodes, 6 s a sample, half of it backward.
Simulation workers(std::int64_t count, std::int64_t batch, std::int64_t buckets,
                   std::optional<lane::Link> link = lane::Link{0.0, 0.0}) {
  const Cluster cluster{count, link};
  const Problem problem = replicated(test::two_place_problem(batch), 1, cluster);
  const Profile profile = worker_profile(test::linear_profile(1.0, 6.0), 1, cluster);
  return simulate_cluster(collective_data_parallel(problem, buckets), profile);
}

TEST_CASE("Workers without link costs divide the time of a batch") {
  CHECK_THAT(workers(1, 12, 1).makespan_s, WithinRel(72.0));
  for (const std::int64_t count : {2, 3, 4, 12}) {
    CAPTURE(count);
    CHECK_THAT(workers(count, 12, 3).makespan_s, WithinRel(72.0 / static_cast<double>(count)));
  }
}

TEST_CASE("A collective costs as a ring does, and is counted as one") {
  const lane::Link link{100.0, 0.5};
  const auto simulation = workers(4, 4, 1, link);
  const std::int64_t gradient = 3 * 16 * 4;

  CHECK(simulation.bytes == ring_bytes(4, gradient));
  CHECK(simulation.messages == ring_messages(4));
  CHECK_THAT(simulation.makespan_s, WithinRel(6.0 + ring_seconds(4, gradient, 0.5, 0.01, 0.0)));
  CHECK_THAT(simulation.idle_share(), WithinRel(1.0 - 6.0 / simulation.makespan_s));
}

TEST_CASE("Buckets hide all but the last all-reduce behind the backward pass") {
  // Each of three buckets takes 64 bytes' time, less than the 1 s that a node's backward does.
  const lane::Link link{1000.0, 0.01};
  const double one_s = ring_seconds(2, 64, 0.01, 0.001, 0.0);
  REQUIRE(one_s < 1.0);

  CHECK_THAT(workers(2, 2, 3, link).makespan_s, WithinRel(6.0 + one_s));
  CHECK(workers(2, 2, 3, link).messages == 3 * ring_messages(2));
}

TEST_CASE("More buckets than layers are as many as there are layers") {
  const Problem problem = replicated(test::two_place_problem(8), 1, {2, {}});

  const auto schedule = collective_data_parallel(problem, 100);

  CHECK(std::ranges::count_if(schedule.tasks, [](const schedule::Task& task) {
          return task.kind == TaskKind::all_reduce;
        }) == 3);
}

TEST_CASE("Every worker needs a sample, and a gradient a bucket") {
  const Problem problem = replicated(test::two_place_problem(8), 1, {9, {}});

  CHECK_THROWS_AS(collective_data_parallel(problem, 1), UsageError);
  CHECK_THROWS_AS(collective_data_parallel(test::two_place_problem(8), 0), UsageError);
}

TEST_CASE("A measured link is used where none is given") {
  Profile profile = test::linear_profile(1.0, 6.0);
  profile.places[1].alone.others[TaskKind::send] = curve_of({100.0, 0.5});
  const Problem problem = replicated(test::two_place_problem(4), 1, {4, {}});

  const auto simulation = simulate_cluster(collective_data_parallel(problem, 1),
                                           replicated(profile, 1, {4, std::nullopt}));

  CHECK_THAT(simulation.makespan_s, WithinRel(6.0 + ring_seconds(4, 192, 0.5, 0.01, 0.0)));
}

TEST_CASE("Ten thousand workers are simulated with a hundred tasks each") {
  Problem problem = test::two_place_problem(20000);
  problem.model = test::chain(95);
  Profile profile = test::linear_profile(1.0, 6.0);
  auto& costs = profile.places[1].alone;
  costs.forward.assign(95, costs.forward[0]);
  costs.backward.assign(95, costs.backward[0]);
  const Cluster cluster{10000, lane::Link{1e9, 1e-6}};

  const auto schedule = collective_data_parallel(replicated(problem, 1, cluster), 95);
  const auto simulation = simulate_cluster(schedule, worker_profile(profile, 1, cluster));

  CHECK(schedule.tasks.size() > 990000);
  CHECK(simulation.makespan_s > 2 * 2 * 95.0);
  CHECK(simulation.makespan_s < 2 * 2 * 95.0 + 95 * 0.1);
}

}  // namespace
}  // namespace zygos::plan::test_cluster
