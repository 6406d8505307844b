// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Workers that get the weights anew in every step, in chunks (data_parallel, exchange
// chunked_broadcast): no bit depends on the chunks.
#include "policy_models.hpp"
#include "small_run.hpp"

#include "zygos/plan/exposed_time.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace zygos::test_borrowed_weights {
namespace {

using policies::Exchange;
using test::SmallRun;

/// The second lane reads host memory itself, the others do not.
std::vector<lane::LaneSpec> lanes_of(int count) {
  std::vector<lane::LaneSpec> specs{test::emulated_lane()};
  for (int i = 1; i < count; ++i) {
    specs.push_back(i == 1 ? test::host_lane() : test::emulated_lane());
    specs.back().name = "worker" + std::to_string(i);
  }
  return specs;
}

train::PolicyPtr by(Exchange exchange, std::int64_t chunks, std::int64_t micro_batches) {
  return policies::data_parallel(
      {.exchange = exchange, .shares = {}, .micro_batches = micro_batches, .chunks = chunks});
}

struct Result {
  std::string weights;
  std::vector<double> gradient;
  double test_loss = 0.0;
  friend bool operator==(const Result&, const Result&) = default;
};

Result three_steps(const test::CutModel& model, const train::PolicyPtr& policy, int lanes,
                   const nn::OptimizerPtr& optimizer, std::int64_t chunk) {
  SmallRun run(lanes_of(lanes));
  run.optimizer = optimizer;
  run.use(model.graph);
  auto problem = run.problem();
  problem.chunk = chunk;
  const auto engine = run.engine(policy->schedule(problem, nullptr));
  for (std::uint64_t step = 1; step <= 3; ++step) {
    engine->step(run.batch(), step);
  }
  return {engine->weights_hash(), engine->gradient(), engine->evaluate(run.batch()).loss};
}

}  // namespace

TEST_CASE(
    "However many chunks weights come in, gradient, weights and evaluation have the same bits",
    "[train][policies]") {
  const auto clipping = nn::clipped(nn::sgd({.learning_rate = 0.5, .momentum = 0.9}), 0.01);
  for (const test::CutModel& model : test::cut_models()) {
    for (const auto& optimizer : {nn::adam({}), clipping}) {
      for (const int lanes : {2, 3, 4}) {
        for (const std::int64_t micro_batches : {1, 2}) {
          for (const std::int64_t chunk : {0, 5}) {
            const auto all_reduced = three_steps(model, by(Exchange::all_reduce, 0, micro_batches),
                                                 lanes, optimizer, chunk);
            for (const std::int64_t chunks : {1, 2, 4}) {
              CAPTURE(model.name, lanes, micro_batches, chunk, chunks);
              CHECK(three_steps(model, by(Exchange::chunked_broadcast, chunks, micro_batches),
                                lanes, optimizer, chunk) == all_reduced);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("Forward passes begin before the last chunk has arrived, on a slow link",
          "[train][policies]") {
  auto specs = lanes_of(2);
  specs[1] = test::emulated_lane();
  specs[1].name = "worker";
  specs[1].link = {.bytes_per_second = 50e6, .latency_s = 20e-6};
  SmallRun run(specs);
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  graph.add("first", test::tanh_layer(9));
  graph.add("second", test::tanh_layer(900));
  graph.add("drop", nn::dropout(0.25));
  graph.add("third", nn::dense({.units = 3}));
  run.use(graph);
  const auto engine = run.engine(run.schedule_of(by(Exchange::chunked_broadcast, 3, 1)));
  const schedule::Schedule& schedule = engine->schedule();
  bool overlaps = false;
  for (std::uint64_t step = 1; step <= 100 && !overlaps; ++step) {
    engine->trace().clear();
    engine->step(run.batch(), step);
    const auto times = train::newest_step(engine->trace(), schedule);
    REQUIRE(times.size() == schedule.tasks.size());
    double first_forward_s = 1e9;
    double last_arrival_s = 0.0;
    for (std::size_t id = 0; id < times.size(); ++id) {
      const schedule::Task& task = schedule.tasks[id];
      if (task.place == 1 && task.kind == schedule::TaskKind::forward) {
        first_forward_s = std::min(first_forward_s, times[id].start_s);
      } else if (task.place == 1 && task.kind == schedule::TaskKind::receive) {
        last_arrival_s = std::max(last_arrival_s, times[id].end_s);
      }
    }
    // The link alone takes 200 us for the second layer.
    CHECK(plan::exposed_broadcast_s(schedule, times)[1] > 0.0);
    overlaps = first_forward_s < last_arrival_s;
  }
  CHECK(overlaps);
}

}  // namespace zygos::test_borrowed_weights
