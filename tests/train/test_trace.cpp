// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "small_run.hpp"

#include "zygos/train/trace.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <sstream>

using namespace zygos;

TEST_CASE("A full trace keeps the newest records in order", "[train][trace]") {
  train::Trace trace(1, 3);
  for (std::uint64_t step = 1; step <= 5; ++step) {
    trace.record(0, {step, 0, 0.0, 1.0});
  }

  const auto kept = trace.of(0);

  REQUIRE(kept.size() == 3);
  CHECK(kept.front().step == 3);
  CHECK(kept.back().step == 5);
}

TEST_CASE("A trace without capacity records nothing", "[train][trace]") {
  train::Trace trace(1, 0);
  trace.record(0, {});
  CHECK(trace.of(0).empty());
}

TEST_CASE("A written trace holds each task of each step once, inside the step's order",
          "[train][trace]") {
  test::SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));
  for (std::uint64_t step = 1; step <= 4; ++step) {
    engine->step(run.batch(), step);
  }
  const auto& schedule = engine->schedule();
  const auto predicted = plan::simulate(schedule, [](const auto&) { return 0.001; });
  std::ostringstream out;

  train::write_trace(out, engine->trace(), schedule, &predicted);

  const auto document = nlohmann::json::parse(out.str());
  std::size_t measured = 0;
  std::size_t drawn = 0;
  for (const auto& event : document.at("traceEvents")) {
    if (event.at("ph") == "X") {
      CHECK(event.at("dur").get<double>() >= 0.0);
      ++(event.at("pid") == 1 ? measured : drawn);
    }
  }
  CHECK(measured == 4 * schedule.tasks.size());
  CHECK(drawn == schedule.tasks.size());
}

TEST_CASE("Measured tasks respect the order of the schedule", "[train][trace]") {
  test::SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));
  for (std::uint64_t step = 1; step <= 20; ++step) {
    engine->step(run.batch(), step);
  }
  const auto& schedule = engine->schedule();
  std::map<std::pair<std::uint64_t, schedule::TaskId>, train::TaskRecord> by_task;
  for (std::size_t line = 0; line < 2 * schedule::queue_count; ++line) {
    for (const auto& record : engine->trace().of(line)) {
      by_task[{record.step, record.task}] = record;
    }
  }
  REQUIRE(by_task.size() == 20 * schedule.tasks.size());
  for (const auto& [key, record] : by_task) {
    for (const auto before : schedule.tasks[static_cast<std::size_t>(key.second)].after) {
      CHECK(by_task.at({key.first, before}).end_s <= record.start_s);
    }
  }
}
