// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/layer_costs.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

namespace zygos::measure::test_layer_costs {
namespace {

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using schedule::TaskKind;

/// Nodes of 1, 2 and 3 s a sample; a task costs half a second by itself.
PassTimes pass(std::int64_t samples, double scale = 1.0) {
  const auto count = static_cast<double>(samples);
  return {samples,
          0.5 + 6.0 * count * scale,
          {0.5 + 1.0 * count, 0.5 + 2.0 * count, 0.5 + 3.0 * count}};
}

plan::PlaceCosts measured() {
  plan::PlaceCosts costs;
  set_passes(costs, {pass(1), pass(10)}, {pass(1), pass(10)});
  return costs;
}

TEST_CASE("A task's own costs are told from its nodes' and charged once a pass") {
  const plan::PlaceCosts costs = measured();

  CHECK_THAT(costs.pass_s, WithinRel(0.5));
  CHECK_THAT(costs.pass_seconds(TaskKind::forward, {0, 3}, 10), WithinRel(60.5));
  CHECK_THAT(costs.pass_seconds(TaskKind::backward, {1, 2}, 10), WithinRel(20.5));
  CHECK_THAT(costs.pass_seconds(TaskKind::forward, {2, 3}, 4), WithinRel(12.5));
}

TEST_CASE("All nodes together cost what they did in one task, whatever they cost one by one") {
  plan::PlaceCosts costs;
  // In one task the caches are warm, say: half the time.
  set_passes(costs, {pass(1), pass(10, 0.5)}, {pass(1), pass(10)});

  CHECK_THAT(costs.pass_seconds(TaskKind::forward, {0, 3}, 10), WithinRel(30.5));
  CHECK_THAT(costs.pass_seconds(TaskKind::forward, {2, 3}, 10) - costs.pass_s,
             WithinRel(15.0, 1e-9));
}

TEST_CASE("Noise that makes single nodes look cheap gives no negative costs") {
  plan::PlaceCosts costs;
  set_passes(costs, {{4, 10.0, {1.0, 2.0, 3.0}}}, {{4, 1.0, {3.0, 3.0, 3.0}}});

  CHECK(costs.pass_s == 0.0);
  CHECK_THAT(costs.pass_seconds(TaskKind::forward, {0, 3}, 4), WithinRel(10.0));
  CHECK_THAT(costs.pass_seconds(TaskKind::backward, {0, 3}, 4), WithinRel(1.0));
}

TEST_CASE("A single node costs what its pass does") {
  plan::PlaceCosts costs;
  set_passes(costs, {{4, 10.0, {11.0}}}, {{4, 20.0, {19.0}}});

  CHECK_THAT(costs.pass_seconds(TaskKind::forward, {0, 1}, 4), WithinRel(10.0));
  CHECK_THAT(costs.pass_seconds(TaskKind::backward, {0, 1}, 4), WithinRel(20.0));
}

TEST_CASE("A pass measured in company slows all its nodes by the same factor") {
  const plan::PlaceCosts base = measured();
  plan::PlaceCosts together;

  set_whole_pass(together, base, TaskKind::forward, 10, 120.5);

  CHECK_THAT(together.pass_seconds(TaskKind::forward, {0, 3}, 10), WithinRel(120.5));
  CHECK_THAT(together.pass_seconds(TaskKind::forward, {0, 1}, 10), WithinRel(20.5));
}

TEST_CASE("A later measurement of the same pass replaces the earlier one") {
  const plan::PlaceCosts base = measured();
  plan::PlaceCosts together;
  set_whole_pass(together, base, TaskKind::forward, 10, 60.5);

  set_whole_pass(together, base, TaskKind::forward, 10, 120.5);

  CHECK_THAT(together.pass_seconds(TaskKind::forward, {0, 3}, 10), WithinRel(120.5));
}

TEST_CASE("Seconds of a pass are shared out among its nodes by their time") {
  const plan::PlaceCosts base = measured();
  std::vector<double> by_node;

  share_out(5.0, {1, 3}, 10, base.forward, by_node);

  const double second = base.forward[1].at(10);
  const double third = base.forward[2].at(10);
  REQUIRE(by_node.size() == 3);
  CHECK(by_node[0] == 0.0);
  CHECK_THAT(by_node[1], WithinRel(5.0 * second / (second + third)));
  CHECK_THAT(by_node[1] + by_node[2], WithinRel(5.0));
}

TEST_CASE("Half an update costs half, beside the task's own costs") {
  plan::PlaceCosts costs = measured();
  costs.others[TaskKind::update].add(100, 8.5);
  costs.others[TaskKind::loss].add(100, 2.0);
  costs.others[TaskKind::send].add(100, 1.0);
  costs.others[TaskKind::send].add(200, 2.0);

  anchor(costs);

  CHECK_THAT(costs.others[TaskKind::update].at(50), WithinRel(4.5));
  CHECK_THAT(costs.others[TaskKind::update].at(100), WithinRel(8.5));
  CHECK(costs.others[TaskKind::loss].at(50) == 2.0);
  CHECK_THAT(costs.others[TaskKind::send].at(50), WithinAbs(0.5, 1e-12));
}

}  // namespace
}  // namespace zygos::measure::test_layer_costs
