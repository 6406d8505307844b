// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/plan/cluster.hpp"
#include "zygos/plan/exposed_time.hpp"
#include "zygos/plan/simulator.hpp"

#include <catch2/catch_test_macros.hpp>

#include <vector>

namespace zygos::plan::test_exposed_time {
namespace {

/// Workers with two layers of 32 parameters each.
Problem workers(std::int64_t count) {
  Problem problem;
  problem.batch = 8;
  for (int layer = 0; layer < 2; ++layer) {
    schedule::NodeOutline node;
    node.name = "layer" + std::to_string(layer);
    node.inputs = {layer - 1};
    node.parameters = {32 * layer, 32 * (layer + 1)};
    node.output_bytes = 40;
    problem.model.nodes.push_back(node);
  }
  problem.places.push_back({"l0", lane::Kind::emulated, false, 0});
  return replicated(problem, 0, {.workers = count, .link = {}});
}

Simulation timed(const schedule::Schedule& schedule, double exchange_s) {
  return simulate(schedule, [&](const schedule::Task& task) {
    return task.kind == schedule::TaskKind::all_reduce ? exchange_s
           : task.kind == schedule::TaskKind::backward ? 1.0
                                                       : 0.0;
  });
}

TEST_CASE("Of an exchange in buckets that is as long as backward, the last bucket is exposed") {
  const auto schedule = collective_data_parallel(workers(3), 2);

  CHECK(exposed_exchange_s(schedule, timed(schedule, 0.25).tasks) == std::vector{0.25});
  CHECK(exposed_exchange_s(schedule, timed(schedule, 1.0).tasks) == std::vector{1.0});
  CHECK(exposed_exchange_s(schedule, timed(schedule, 3.0).tasks) == std::vector{5.0});
  CHECK(exposed_exchange_s(schedule, timed(schedule, 0.0).tasks) == std::vector{0.0});
}

TEST_CASE("Times of another schedule are no exposed time") {
  const auto schedule = collective_data_parallel(workers(2), 1);
  CHECK_THROWS_AS(exposed_exchange_s(schedule, std::vector<TaskTime>(1)), InternalError);
}

}  // namespace
}  // namespace zygos::plan::test_exposed_time
