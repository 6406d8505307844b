// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/lane_alone.hpp"
#include "request_for.hpp"
#include "slow_kernels.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <optional>

namespace zygos::measure::test_lane_alone {
namespace {

TEST_CASE("Of several rounds of a lane alone the fastest times count", "[measure][lane_alone]") {
  test::SmallRun run(test::host_and_device());
  run.use(test::wide_model());
  const ProfileRequest request = test::request_for(run);
  const plan::Problem problem = run.problem();
  const auto nodes = problem.model.all_nodes();
  int points = 0;
  LaneAlone lane(request, problem, 0, [&](const MeasuredPoint&) { ++points; });
  const auto passes_s = [&] {
    const plan::PlaceCosts costs = lane.costs();
    return costs.pass_seconds(schedule::TaskKind::forward, nodes, 40) +
           costs.pass_seconds(schedule::TaskKind::backward, nodes, 40);
  };

  std::optional<test::SlowKernels> disturbance(std::in_place);
  REQUIRE(lane.measure());
  const double disturbed_s = passes_s();
  disturbance.reset();
  REQUIRE(lane.measure());
  const double fastest_s = passes_s();
  disturbance.emplace();
  REQUIRE(lane.measure());

  CHECK(lane.largest() == 40);
  CHECK(fastest_s < disturbed_s - 20e-3);
  CHECK(passes_s() <= fastest_s * (1 + 1e-9));  // sums of nodes are rounded
  CHECK(points == 3 * 2 * static_cast<int>(lane.points()));
}

TEST_CASE("A lane that can't hold the model has nothing to measure", "[measure][lane_alone]") {
  auto specs = test::host_and_device();
  specs[1].budget_bytes = 1000;
  test::SmallRun run(specs);
  const ProfileRequest request = test::request_for(run);
  const plan::Problem problem = run.problem();
  LaneAlone lane(request, problem, 1, [](const MeasuredPoint&) {});

  CHECK_FALSE(lane.measure());
  CHECK(lane.largest() == 0);
}

}  // namespace
}  // namespace zygos::measure::test_lane_alone
