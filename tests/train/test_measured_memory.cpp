// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Measured memory comes from the addresses that tasks use, so a wrong plan does not agree with it.
#include "policy_models.hpp"
#include "small_run.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <string>
#include <vector>

namespace zygos::test_measured_memory {
namespace {

using memory::Category;
using test::SmallRun;

/// Changes the memory of place 0 in a plan that was right.
using Fault = std::function<void(plan::PlaceMemory&)>;

void plant(SmallRun& run, const Fault& fault) {
  run.options.plan_memory = [fault](const plan::MemoryRequest& request,
                                    const schedule::Schedule& schedule) {
    auto memory = plan::plan_memory(request, schedule);
    fault(memory.front());
    return memory;
  };
}

train::LaneUsage measured(SmallRun& run) {
  const auto engine = run.engine(run.split(40));
  engine->step(run.batch(), 1);
  return engine->memory().front();
}

void check_as_planned(const std::vector<train::LaneUsage>& all) {
  for (const train::LaneUsage& lane : all) {
    for (const Category category : memory::all_categories) {
      CAPTURE(lane.lane, name_of(category));
      CHECK(lane.used[category] == lane.usage[category]);
    }
  }
}

}  // namespace

TEST_CASE("Before the first step no memory is used", "[train][memory]") {
  SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(15));
  for (const train::LaneUsage& lane : engine->memory()) {
    CHECK(lane.bytes > 0);
    CHECK(lane.used.total() == 0);
  }
}

TEST_CASE("A right plan has no byte that a step does not use", "[train][memory]") {
  SmallRun run(test::host_and_device());
  run.use(test::dense_model().graph);
  const test::Names cuts = test::dense_model().two;
  for (const train::PolicyPtr& policy :
       {policies::single({}), policies::coarse_split({.share = {}, .samples = 15}),
        policies::layer_placement({.stages = {.cuts = cuts, .lanes = {}}}),
        policies::hippie(
            {.replicas = 2, .micro_batches = 2, .stages = {.cuts = cuts, .lanes = {}}}),
        policies::data_parallel(
            {.exchange = policies::Exchange::chunked_broadcast, .shares = {}, .chunks = 2})}) {
    const auto schedule = run.schedule_of(policy);
    CAPTURE(schedule.policy);
    const auto engine = run.engine(schedule);
    engine->step(run.batch(), 1);
    check_as_planned(engine->memory());
  }
}

TEST_CASE("Only a place that cannot read host memory and comes first copies a peer's gradient in",
          "[train][memory]") {
  std::vector<std::size_t> communication;
  for (const bool device_first : {true, false}) {
    std::vector<lane::LaneSpec> specs = test::host_and_device();
    if (device_first) {
      std::swap(specs[0], specs[1]);
    }
    SmallRun run(std::move(specs));
    run.use(test::dense_model().graph);
    const auto engine = run.engine(run.split(15));
    engine->step(run.batch(), 1);
    check_as_planned(engine->memory());
    for (const train::LaneUsage& lane : engine->memory()) {
      if (lane.lane == "device") {
        communication.push_back(lane.used[Category::communication]);
      }
    }
  }
  // The sum and a landing; the sum alone.
  REQUIRE(communication.size() == 2);
  CHECK(communication[0] == 2 * communication[1]);
}

TEST_CASE("A buffer that nobody uses is planned and allocated, but not measured",
          "[train][memory]") {
  SmallRun run(test::host_and_device());
  const train::LaneUsage right = measured(run);
  plant(run, [](plan::PlaceMemory& memory) {
    memory.lane.add(Category::activations, "of nobody", 1000);
  });

  const train::LaneUsage wrong = measured(run);

  CHECK(right.used.total() == right.bytes);
  CHECK(wrong.bytes == right.bytes + 1024);
  CHECK(wrong.usage[Category::activations] == right.usage[Category::activations] + 1024);
  CHECK(wrong.used[Category::activations] == right.used[Category::activations]);
  CHECK(wrong.used.total() == right.bytes);
}

TEST_CASE("A call of fewer samples uses less, and a later one of more is measured again",
          "[train][memory]") {
  SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(40));
  train::Batch few = run.batch();
  few.ids = few.ids.first(3);

  engine->step(few, 1);
  const memory::Usage less = engine->memory().front().used;
  engine->step(run.batch(), 2);
  const memory::Usage all = engine->memory().front().used;
  engine->step(few, 3);

  CHECK(less[Category::activations] < all[Category::activations]);
  CHECK(engine->memory().front().used.total() == all.total());
  CHECK(all.total() == engine->memory().front().bytes);
}

TEST_CASE("A buffer planned too small is used beyond its end, or refused", "[train][memory]") {
  SmallRun run(test::host_and_device());
  plant(run, [](plan::PlaceMemory& memory) {
    for (auto& [buffer, planned] : memory.buffers) {
      if (buffer.kind == schedule::BufferKind::activations) {
        std::vector<plan::Slot> slots = planned.slots.all();
        for (plan::Slot& slot : slots) {
          slot.bytes /= 2;
        }
        planned.slots = plan::SlotTable(slots);
      }
    }
  });
  CHECK_THROWS_AS(measured(run), InternalError);
}

}  // namespace zygos::test_measured_memory
