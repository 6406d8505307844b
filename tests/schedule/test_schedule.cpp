// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/two_place_split.hpp"

#include "zygos/core/error.hpp"
#include "zygos/schedule/schedule.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

namespace zygos::schedule {
namespace {

using Ids = std::vector<TaskId>;

std::vector<TaskKind> kinds_of(const Schedule& schedule) {
  std::vector<TaskKind> kinds;
  for (const Task& task : schedule.tasks) {
    kinds.push_back(task.kind);
  }
  return kinds;
}

TEST_CASE("The builder orders places only where one needs what the other made") {
  const Schedule schedule = test::two_place_split();

  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const Ids expected = id == 11 ? Ids{10} : id == 12 ? Ids{9} : Ids{};
    CAPTURE(schedule.name_of(static_cast<TaskId>(id)));
    CHECK(schedule.tasks[id].after == expected);
  }
}

TEST_CASE("The builder leaves out a wait that follows from another") {
  ScheduleBuilder builder("chain", {"a", "b", "c"}, 3, 1);
  for (const Place place : {0, 1, 2}) {
    builder.load(place, {place, place + 1}, true);
    builder.forward(place, {place, place + 1});
    builder.loss(place, {place, place + 1});
    builder.backward(place, {place, place + 1});
  }
  builder.send(0);                                  // 12
  builder.send(1);                                  // 13
  builder.all_reduce(std::vector<Place>{0, 1});     // 14, 15
  builder.send(1);                                  // 16 overwrites what 14 and 15 read
  builder.send(2);                                  // 17
  builder.all_reduce(std::vector<Place>{2, 0, 1});  // 18, 19, 20
  const Schedule schedule = std::move(builder).build();

  CHECK(schedule.tasks[14].after == Ids{13});
  CHECK(schedule.tasks[15].after == Ids{12});
  CHECK(schedule.tasks[16].after == Ids{14});
  // Place c reads what a (12) and b (16) sent; b has waited for 12 already.
  CHECK(schedule.tasks[18].after == Ids{16});
}

TEST_CASE("An all-reduce reads what every place sent and writes its own sum") {
  const Schedule schedule = test::two_place_split();

  const Task& reduce = schedule.tasks[12];

  CHECK(reduce.place == 1);
  CHECK(reduce.reads == std::vector<Buffer>{{BufferKind::gradients, 1, 0, 0},
                                            {BufferKind::sent_gradients, 0, 0, 0},
                                            {BufferKind::sent_gradients, 1, 0, 0}});
  CHECK(reduce.writes == std::vector<Buffer>{{BufferKind::reduced_gradients, 1, 0, 0}});
}

TEST_CASE("A task's name says kind, place, nodes and samples") {
  const Schedule schedule = test::two_place_split();

  CHECK(schedule.name_of(6) == "forward@device nodes 0-3 samples 3-10");
  CHECK(schedule.name_of(5) == "copy@device samples 3-10");
  CHECK(schedule.name_of(13) == "update@host");
}

TEST_CASE("A buffer's text says what, where, micro-batch and version") {
  CHECK(text_of({BufferKind::activations, 1, 2, 3}, {"host", "device"}) ==
        "activations@device mb2 v3");
}

TEST_CASE("Places without tasks are not active and have no samples") {
  ScheduleBuilder builder("one", {"host", "device"}, 4, 1);
  builder.load(1, {0, 4}, true);
  builder.forward(1, {0, 4});
  const Schedule schedule = std::move(builder).build();

  CHECK(schedule.active_places() == std::vector<Place>{1});
  CHECK(schedule.samples_of(0).count() == 0);
  CHECK(schedule.samples_of(1) == SampleRange{0, 4});
}

TEST_CASE("Evaluation keeps load, copy, forward and loss in order, and is valid") {
  const Schedule evaluation = test::two_place_split().for_evaluation();

  using enum TaskKind;
  CHECK(kinds_of(evaluation) ==
        std::vector<TaskKind>{load, forward, loss, load, copy, forward, loss});
  CHECK(evaluation.batch == 10);
  CHECK(validate(evaluation).empty());
}

TEST_CASE("The text has a line per task and says all of it") {
  const std::string text = test::two_place_split().text();

  CHECK(text.starts_with("policy split, batch 10, places host device\n"));
  CHECK(std::ranges::count(text, '\n') == 16);
  CHECK_THAT(text, Catch::Matchers::ContainsSubstring(
                       "11: all_reduce@host; after 10; reads gradients@host mb0 v0, "
                       "sent_gradients@host mb0 v0, sent_gradients@device mb0 v0; writes "
                       "reduced_gradients@host mb0 v0\n"));
}

TEST_CASE("The builder refuses a schedule that can't run, with policy and task") {
  ScheduleBuilder builder("hasty", {"host"}, 4, 1);
  builder.load(0, {0, 4}, true);
  builder.backward(0, {0, 4});

  CHECK_THROWS_MATCHES(
      std::move(builder).build(), InternalError,
      Catch::Matchers::MessageMatches(
          Catch::Matchers::ContainsSubstring("policy 'hasty'") &&
          Catch::Matchers::ContainsSubstring("backward@host nodes 0-1 samples 0-4")));
}

TEST_CASE("The builder refuses a place that the run does not have") {
  ScheduleBuilder builder("lost", {"host"}, 4, 1);

  CHECK_THROWS_AS(builder.load(1, {0, 4}, true), InternalError);
}

}  // namespace
}  // namespace zygos::schedule
