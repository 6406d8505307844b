// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What hippie promises of a step's course, seen in the trace of steps that ran.
#include "small_run.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/exposed_time.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace zygos::test_hidden_exchange {
namespace {

using schedule::TaskKind;

std::vector<lane::LaneSpec> devices(int count) {
  std::vector<lane::LaneSpec> specs;
  for (int i = 0; i < count; ++i) {
    specs.push_back(test::emulated_lane());
    specs.back().name = "device" + std::to_string(i);
  }
  return specs;
}

/// A first stage whose passes take a while, and a second one with little to exchange.
graph::Graph model() {
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  graph.add("wide", test::tanh_layer(900));
  graph.add("narrow", test::tanh_layer(9));
  graph.add("drop", nn::dropout(0.25));
  graph.add("classes", nn::dense({.units = 3}));
  return graph;
}

train::PolicyPtr policy() {
  return policies::hippie(
      {.replicas = 2, .micro_batches = 5, .stages = {.cuts = {"drop"}, .lanes = {}}});
}

/// Passes of a place as they ran, "F0 B0 F1 B1", micro-batches counted from its first one.
std::string passes_of(const schedule::Schedule& schedule, const std::vector<plan::TaskTime>& times,
                      schedule::Place place) {
  std::vector<std::size_t> ids;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    if (task.place == place &&
        (task.kind == TaskKind::forward || task.kind == TaskKind::backward)) {
      ids.push_back(id);
    }
  }
  std::ranges::sort(ids, {}, [&](std::size_t id) { return times[id].start_s; });
  std::string text;
  for (const std::size_t id : ids) {
    const schedule::Task& task = schedule.tasks[id];
    text += (task.kind == TaskKind::forward ? "F" : "B") +
            std::to_string(task.micro_batch - schedule.tasks[ids.front()].micro_batch) + " ";
  }
  return text;
}

std::vector<plan::TaskTime> step_times(const test::SmallRun& run, train::Engine& engine,
                                       std::uint64_t step) {
  engine.trace().clear();
  engine.step(run.batch(), step);
  auto times = train::newest_step(engine.trace(), engine.schedule());
  REQUIRE(times.size() == engine.schedule().tasks.size());
  return times;
}

}  // namespace

TEST_CASE("Passes of a step of hippie run in the order of its schedule", "[train][policies]") {
  for (const int lanes : {2, 4}) {
    CAPTURE(lanes);
    test::SmallRun run(devices(lanes));
    run.use(model());
    const auto engine = run.engine(run.schedule_of(policy()));
    const schedule::Schedule& schedule = engine->schedule();
    for (std::uint64_t step = 1; step <= 5; ++step) {
      const auto times = step_times(run, *engine, step);
      for (schedule::Place place = 0; place < 4; ++place) {
        const bool last = schedule.stage_of[static_cast<std::size_t>(place)] == 1;
        CHECK(passes_of(schedule, times, place) == (last || lanes == 2
                                                        ? "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 "
                                                        : "F0 F1 F2 F3 B0 F4 B1 B2 B3 B4 "));
      }
    }
  }
}

TEST_CASE("Two stages of a replica that share a lane share its budget", "[train][policies]") {
  auto specs = devices(2);
  std::size_t needed = 0;
  {
    test::SmallRun run(specs);
    run.use(model());
    for (const train::LaneUsage& lane : run.engine(run.schedule_of(policy()))->memory()) {
      needed += lane.lane == specs[1].name ? lane.bytes : 0;
    }
  }
  REQUIRE(needed > 0);
  specs[1].budget_bytes = needed;
  test::SmallRun run(specs);
  run.use(model());
  CHECK_NOTHROW(run.engine(run.schedule_of(policy())));
  specs[1].budget_bytes = needed - 1;
  test::SmallRun small(specs);
  small.use(model());
  CHECK_THROWS_AS(small.engine(small.schedule_of(policy())), MemoryError);
}

TEST_CASE("Of a step of hippie that ran only the exchange of stage 0 is exposed",
          "[train][policies]") {
  auto specs = devices(4);
  specs[0].slowdown = specs[2].slowdown = 20.0;  // of stage 0: its passes leave others their cores
  test::SmallRun run(specs);
  run.use(model());
  const auto engine = run.engine(run.schedule_of(policy()));
  bool hidden = false;
  // On a busy machine a thread may be late; the schedule does not make it so.
  for (std::uint64_t step = 1; step <= 100 && !hidden; ++step) {
    const auto exposed_s =
        plan::exposed_exchange_s(engine->schedule(), step_times(run, *engine, step));
    CHECK(exposed_s[0] > 0.0);
    hidden = exposed_s[1] == 0.0;
  }
  CHECK(hidden);
}

}  // namespace zygos::test_hidden_exchange
