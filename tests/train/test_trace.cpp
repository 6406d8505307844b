// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "small_run.hpp"

#include "zygos/train/trace.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>

namespace zygos::test_trace {

namespace {

nlohmann::json written(const train::Trace& trace, const schedule::Schedule& schedule,
                       const train::TraceMemory& memory = {}) {
  std::ostringstream out;
  train::write_trace(out, trace, schedule, nullptr, memory);
  return nlohmann::json::parse(out.str());
}

}  // namespace

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

TEST_CASE("A written trace says what a task moves, reads and writes, on the track of its place",
          "[train][trace]") {
  test::SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));
  engine->step(run.batch(), 1);
  const auto& schedule = engine->schedule();

  const auto document = written(engine->trace(), schedule);

  std::map<std::string, nlohmann::json> events;
  std::map<int, std::string> tracks;
  for (const auto& event : document.at("traceEvents")) {
    if (event.at("ph") == "X") {
      events[event.at("args").at("task").get<std::string>()] = event;
    } else if (event.at("name") == "thread_name") {
      tracks[event.at("tid").get<int>()] = event.at("args").at("name").get<std::string>();
    }
  }
  REQUIRE(events.size() == schedule.tasks.size());
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    const auto& event = events.at(schedule.name_of(static_cast<schedule::TaskId>(id)));
    CHECK(event.at("tid").get<int>() / 4 == task.place);
    CHECK(event.at("args").at("step") == 1);
    REQUIRE(event.at("args").at("reads").size() == task.reads.size());
    REQUIRE(event.at("args").at("writes").size() == task.writes.size());
    for (std::size_t i = 0; i < task.writes.size(); ++i) {
      CHECK(event.at("args").at("writes")[i] == schedule::text_of(task.writes[i], schedule.places));
    }
  }
  CHECK(tracks.at(0) == schedule.places[0]);
  CHECK(tracks.at(4) == schedule.places[1]);
}

TEST_CASE("A written trace counts the bytes of every category over time", "[train][trace]") {
  test::SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));
  const auto& schedule = engine->schedule();
  plan::MemorySample sample{1, schedule::Tier::lane, 0.25, {}};
  sample.usage[memory::Category::weights] = 4096;

  const auto document = written(engine->trace(), schedule, {{sample}, {}});

  std::size_t counters = 0;
  for (const auto& event : document.at("traceEvents")) {
    if (event.at("ph") == "C") {
      ++counters;
      CHECK(event.at("name") == "memory " + schedule.places[1]);
      CHECK(event.at("ts") == 250000.0);
      CHECK(event.at("args").at("weights") == 4096);
      CHECK(event.at("args").size() == memory::all_categories.size());
    }
  }
  CHECK(counters == 1);
}

TEST_CASE("Counters of memory name the tier, and those of a prediction begin with the first task",
          "[train][trace]") {
  test::SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));
  engine->step(run.batch(), 1);
  plan::Simulation predicted;
  predicted.tasks.resize(engine->schedule().tasks.size());
  plan::MemorySample sample{1, schedule::Tier::host, 0.0, {}};
  std::ostringstream out;

  train::write_trace(out, engine->trace(), engine->schedule(), &predicted, {{}, {sample}});

  double first = -1.0;
  const auto document = nlohmann::json::parse(out.str());
  for (const auto& event : document.at("traceEvents")) {
    if (event.at("ph") == "X" && event.at("pid") == 1) {
      const double start = event.at("ts");
      first = first < 0.0 ? start : std::min(first, start);
    }
  }
  std::size_t counters = 0;
  for (const auto& event : document.at("traceEvents")) {
    if (event.at("ph") == "C") {
      ++counters;
      CHECK(event.at("pid") == 2);
      CHECK(event.at("name") == "memory " + engine->schedule().places[1] + "/staging");
      CHECK(event.at("ts").get<double>() == Catch::Approx(first));
    }
  }
  CHECK(counters == 1);
}

TEST_CASE("A written trace says what run it is of", "[train][trace]") {
  test::SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));

  const auto facts = written(engine->trace(), engine->schedule()).at("zygos");

  CHECK(facts.at("places") == engine->schedule().places);
  CHECK(facts.at("policy") == engine->schedule().policy);
  CHECK(facts.at("batch") == engine->schedule().batch);
  CHECK_FALSE(facts.at("version").get<std::string>().empty());
}

TEST_CASE("Names that are no UTF-8 do not cost a run its trace", "[train][trace]") {
  schedule::Schedule schedule;
  schedule.policy = "toy";
  schedule.places = {"h\xffst"};
  schedule.stage_of = {0};
  schedule.batch = 8;
  CHECK_NOTHROW(written(train::Trace(schedule::queue_count, 0), schedule));
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

}  // namespace zygos::test_trace
