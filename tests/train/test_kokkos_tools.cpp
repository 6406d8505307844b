// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a profiler sees of training steps on two lanes.
#include "small_run.hpp"
#include "support/tools_recorder.hpp"

#include <catch2/catch_test_macros.hpp>

#include <map>
#include <set>
#include <thread>

using namespace zygos;
using zygos::testing::Event;
using zygos::testing::EventKind;
using zygos::testing::ToolsRecorder;

namespace {

std::set<std::string> labels(const std::vector<Event>& events) {
  std::set<std::string> out;
  for (const Event& event : events) {
    out.insert(event.label);
  }
  return out;
}

std::set<std::thread::id> threads(const std::vector<Event>& events) {
  std::set<std::thread::id> out;
  for (const Event& event : events) {
    out.insert(event.thread);
  }
  return out;
}

/// The driver threads of a run's lanes.
std::set<std::thread::id> drivers(lane::LaneSet& lanes) {
  std::set<std::thread::id> out;
  for (std::size_t place = 0; place < lanes.size(); ++place) {
    lanes[place].run_and_wait([&] { out.insert(std::this_thread::get_id()); });
  }
  return out;
}

}  // namespace

TEST_CASE("Everything a run does carries one of our labels", "[train][tools]") {
  const ToolsRecorder recorder;
  for (const DType dtype : {DType::f32, DType::f64}) {
    test::SmallRun run(test::host_and_device(), dtype);
    run.graph = test::wide_model();
    const auto engine = run.engine(run.split(17));
    for (std::uint64_t step = 1; step <= 3; ++step) {
      engine->step(run.batch(), step);
    }
    engine->evaluate(run.batch());
    engine->snapshot();
  }

  CHECK(labels(recorder.foreign()).empty());
  CHECK_FALSE(recorder.events(EventKind::kernel).empty());
  CHECK_FALSE(recorder.events(EventKind::fence).empty());
  CHECK_FALSE(recorder.events(EventKind::deep_copy).empty());
  CHECK_FALSE(recorder.events(EventKind::allocation).empty());
}

TEST_CASE("Kernels run on their lanes only and nothing fences globally", "[train][tools]") {
  test::SmallRun run(test::host_and_device());
  run.graph = test::wide_model();
  const auto engine = run.engine(run.split(17));
  const auto lanes = drivers(run.lanes);
  const ToolsRecorder recorder;

  for (std::uint64_t step = 1; step <= 5; ++step) {
    engine->step(run.batch(), step);
  }

  const auto kernels = recorder.events(EventKind::kernel);
  CHECK(threads(kernels) == lanes);
  for (const Event& kernel : kernels) {
    CHECK(kernel.space() == "OpenMP");
  }
  for (const Event& fence : recorder.events(EventKind::fence)) {
    CAPTURE(fence.label);
    CHECK_FALSE(fence.is_global_fence());
  }
}

TEST_CASE("A step allocates nothing after the first one", "[train][tools]") {
  test::SmallRun run(test::host_and_device());
  run.graph = test::wide_model();
  const auto engine = run.engine(run.split(17));
  engine->step(run.batch(), 1);
  const ToolsRecorder recorder;

  for (std::uint64_t step = 2; step <= 20; ++step) {
    engine->step(run.batch(), step);
  }
  engine->evaluate(run.batch());

  CHECK(labels(recorder.events(EventKind::allocation)).empty());
  CHECK(labels(recorder.events(EventKind::deallocation)).empty());
}

TEST_CASE("A lane with a Serial instance runs its kernels there", "[train][tools]") {
  auto specs = test::host_and_device();
  specs[1].space = lane::HostSpace::serial;
  test::SmallRun run(specs);
  run.graph = test::wide_model();
  const auto engine = run.engine(run.split(17));
  const ToolsRecorder recorder;

  engine->step(run.batch(), 1);

  std::map<std::thread::id, std::set<std::string>> spaces;
  for (const Event& kernel : recorder.events(EventKind::kernel)) {
    spaces[kernel.thread].insert(kernel.space());
  }
  REQUIRE(spaces.size() == 2);
  std::set<std::string> seen;
  for (const auto& [thread, names] : spaces) {
    CHECK(names.size() == 1);
    seen.insert(names.begin(), names.end());
  }
  CHECK(seen == std::set<std::string>{"OpenMP", "Serial"});
}

TEST_CASE("An incomplete batch is copied to a lane without the samples it lacks",
          "[train][tools]") {
  test::SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.schedule_of(policies::single({.place = "device"})));
  run.ids.resize(7);
  const ToolsRecorder recorder;

  engine->step(run.batch(), 1);

  std::uint64_t bytes = 0;
  for (const Event& event : recorder.events(EventKind::deep_copy)) {
    bytes += event.label == "zygos::train::copy_batch" ? event.bytes : 0;
  }
  CHECK(bytes == 7 * (10 * sizeof(double) + sizeof(std::int32_t) + sizeof(std::uint32_t)));
}
