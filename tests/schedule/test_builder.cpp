// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/mutations.hpp"
#include "schedule/sample_schedules.hpp"

#include "zygos/core/error.hpp"
#include "zygos/schedule/builder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

namespace zygos::schedule::test_builder {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Ids = std::vector<TaskId>;
using test::find_task;
using enum TaskKind;

Outline one_place() {
  Outline outline;
  outline.policy = "hasty";
  outline.places = {{"host", true, 0}};
  outline.batch = 4;
  outline.model = test::chain(2);
  return outline;
}

bool reads(const Task& task, BufferKind kind, std::int32_t slot = 0) {
  return std::ranges::any_of(
      task.reads, [&](const Buffer& buffer) { return buffer.kind == kind && buffer.slot == slot; });
}

TEST_CASE("The builder orders places only where one needs what the other made") {
  const Schedule schedule = test::two_place_split();

  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const Ids expected = id == 11 ? Ids{10} : id == 12 ? Ids{9} : Ids{};
    CAPTURE(schedule.name_of(static_cast<TaskId>(id)));
    CHECK(schedule.tasks[id].after == expected);
  }
}

TEST_CASE("Outlines stand for one stage, micro-batch, update and part unless they say more") {
  ScheduleBuilder builder(one_place());
  builder.load(0, 0);
  builder.forward(0, 0);
  const Schedule schedule = std::move(builder).build();

  CHECK(schedule.stages == std::vector<NodeRange>{{0, 2}});
  CHECK(schedule.micro_batches == std::vector<SampleRange>{{0, 4}});
  CHECK(schedule.updates == std::vector<SampleRange>{{0, 4}});
  CHECK(schedule.parts == std::vector<ElementRange>{{0, 20}});
}

TEST_CASE("Only a place that does not read host memory copies, and sends copies") {
  const Schedule schedule = test::two_place_split();

  CHECK(std::ranges::count(schedule.tasks, copy, &Task::kind) == 1);
  const auto reads_gradient_of = [&](std::size_t id, Place place) {
    return std::ranges::count(schedule.tasks[id].reads,
                              Buffer{BufferKind::gradients, place, 0, 0, 0}) == 1;
  };
  CHECK(reads_gradient_of(12, 0));        // the device reads the host's where it lies
  CHECK_FALSE(reads_gradient_of(11, 1));  // the host reads a copy
}

TEST_CASE("Loads bring the model's input to the stages that read it, targets to the last") {
  const Schedule schedule = test::gpipe(3, 2, false);
  CHECK(schedule.tasks[find_task(schedule, load, 0)].bytes == 2 * (4 + 16));
  CHECK(schedule.tasks[find_task(schedule, load, 1)].bytes == 2 * 4);
  CHECK(schedule.tasks[find_task(schedule, load, 2)].bytes == 2 * (4 + 4));
}

TEST_CASE("Backward reads what was kept, or what was computed once more") {
  const Schedule kept = test::gpipe(2, 2, false);
  const Schedule again = test::gpipe(2, 2, true);
  CHECK(reads(kept.tasks[find_task(kept, backward, 0)], BufferKind::activations, 0));
  CHECK(reads(again.tasks[find_task(again, backward, 0)], BufferKind::activations, 1));
  CHECK_FALSE(again.tasks[find_task(again, forward, 0)].keeps);
}

TEST_CASE("The first backward after an update begins the gradient, the others add to it") {
  const Schedule pipeline = test::gpipe(2, 3, false);
  CHECK_FALSE(pipeline.tasks[find_task(pipeline, backward, 0, 0)].accumulates);
  CHECK(pipeline.tasks[find_task(pipeline, backward, 0, 1)].accumulates);
  CHECK(pipeline.tasks[find_task(pipeline, backward, 0, 2)].accumulates);
  const Schedule each = test::pipedream(2, 3);
  CHECK_FALSE(each.tasks[find_task(each, backward, 0, 1)].accumulates);
}

TEST_CASE("A backward in parts hands its workspace on and writes its own parts") {
  const Schedule schedule = test::buckets();
  const Task& later = schedule.tasks[find_task(schedule, backward, 0, 0)];
  const Task& earlier = schedule.tasks[find_task(schedule, backward, 0, 1)];
  CHECK_FALSE(reads(later, BufferKind::scratch));
  CHECK(reads(earlier, BufferKind::scratch));
  CHECK(std::ranges::count(later.writes, Buffer{BufferKind::gradients, 0, 0, 0, 1}) == 1);
  CHECK(std::ranges::count(earlier.writes, Buffer{BufferKind::gradients, 0, 0, 0, 0}) == 1);
  CHECK_FALSE(earlier.accumulates);
}

TEST_CASE("Versions are used from where they are kept: 3, 2, 1 of them for three stages") {
  const Schedule schedule = test::pipedream(3, 6);
  std::vector<std::int32_t> slots(3, 0);
  for (const Task& task : schedule.tasks) {
    auto& most = slots[static_cast<std::size_t>(task.place)];
    most = std::max(most, task.slot);
  }
  CHECK(slots == std::vector<std::int32_t>{2, 1, 0});
  // The first place has had two updates when the third micro-batch, begun with none, comes back.
  const Task& third = schedule.tasks[find_task(schedule, backward, 0, 2)];
  CHECK(third.version == 0);
  CHECK(third.slot == 1);
}

TEST_CASE("A stage between reader and maker of an output adds its own gradient and passes it on") {
  const Schedule schedule = test::gpipe_with_skip(2);
  const Task& middle = schedule.tasks[find_task(schedule, backward, 1)];
  CHECK(reads(middle, BufferKind::input_gradients));
  const Task& first = schedule.tasks[find_task(schedule, backward, 0)];
  CHECK_FALSE(reads(first, BufferKind::input_gradients));
}

TEST_CASE("A message that is sent early is received where it is needed") {
  Outline outline = test::pipeline_outline("late", 2, 1);
  ScheduleBuilder builder(std::move(outline));
  builder.load(0, 0);
  builder.forward(0, 0);
  builder.send(0, 1, 0);
  builder.load(1, 0);
  builder.receive(0, 1, 0);
  builder.forward(1, 0);
  const Schedule schedule = std::move(builder).build();
  CHECK(schedule.tasks[4].kind == receive);
  CHECK(schedule.tasks[4].after == Ids{2});
  CHECK(schedule.tasks[4].queue == Queue::incoming);
}

TEST_CASE("The builder refuses what can't be, with the policy's name") {
  const auto refuses = [](auto&& act, const std::string& text) {
    CHECK_THROWS_MATCHES(act(), InternalError, MessageMatches(ContainsSubstring(text)));
  };
  refuses([] { ScheduleBuilder(one_place()).load(1, 0); }, "policy 'hasty' puts a task on place 1");
  refuses([] { ScheduleBuilder(one_place()).load(0, 1); }, "policy 'hasty' names micro-batch 1");
  refuses([] { ScheduleBuilder(one_place()).backward(0, 0); }, "without a forward");
  refuses([] { ScheduleBuilder(one_place()).forward(0, 0, true, 3); }, "uses weights v3");
  refuses([] { ScheduleBuilder(one_place()).stash(0); }, "keep_versions() comes first");
  refuses(
      [] {
        Outline outline = one_place();
        outline.places[0].stage = -1;
        ScheduleBuilder(std::move(outline)).load(0, 0);
      },
      "but no stage");
  refuses([] { ScheduleBuilder(test::pipeline_outline("two", 2, 1)).loss(0, 0); },
          "needs the model's output");
  refuses([] { ScheduleBuilder(test::pipeline_outline("two", 2, 1)).receive(0, 1, 0); },
          "has not sent");
}

TEST_CASE("The builder refuses a schedule that can't run, with policy and task") {
  ScheduleBuilder builder(one_place());
  builder.load(0, 0);
  builder.forward(0, 0);
  builder.backward(0, 0);

  CHECK_THROWS_MATCHES(std::move(builder).build(), InternalError,
                       MessageMatches(ContainsSubstring(
                           "policy 'hasty' made a bad schedule: task 2 (backward@host nodes 0-2 "
                           "samples 0-4 v0) reads output_gradients@host mb 0 before")));
}

}  // namespace
}  // namespace zygos::schedule::test_builder
