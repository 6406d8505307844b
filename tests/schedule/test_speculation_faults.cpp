// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Faults in updates that begin before the norm is known, which leave every buffer and every order
// in place.
#include "schedule/mutations.hpp"
#include "schedule/order/order.hpp"
#include "schedule/sample_schedules.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

namespace zygos::schedule::test_speculation_faults {
namespace {

using Catch::Matchers::ContainsSubstring;
using test::find_task;
using enum TaskKind;

/// The same with an owner whose weights are not read where they lie.
Schedule behind_link(Schedule schedule) {
  schedule.host_accessible[1] = false;
  for (Task& task : schedule.tasks) {
    std::erase_if(task.reads, [&](const Buffer& buffer) {
      return task.place != 1 && buffer.place == 1 && buffer.kind != BufferKind::message;
    });
  }
  derive_order(schedule);
  return schedule;
}

/// Place 1 owns the weights of place 0 and speculates on those of the first bucket.
Schedule sound() { return test::owner(1, true, false, true); }

void check_found(const Schedule& spoilt, std::size_t id, const std::string& what) {
  CHECK_THAT(test::findings_of(spoilt),
             ContainsSubstring(test::name_start(id)) && ContainsSubstring(what));
}

/// The task moves in front of another one.
Schedule moved(Schedule schedule, std::size_t id, std::size_t before) {
  const Task task = schedule.tasks[id];
  schedule.tasks.erase(schedule.tasks.begin() + static_cast<std::ptrdiff_t>(id));
  schedule.tasks.insert(schedule.tasks.begin() + static_cast<std::ptrdiff_t>(before), task);
  derive_order(schedule);
  return schedule;
}

TEST_CASE("An owner that speculates has a sound schedule") {
  const Schedule schedule = sound();
  CHECK(validate(schedule).empty());
  CHECK(validate(schedule.for_evaluation()).empty());
}

TEST_CASE("Fault: weights are sent before they are confirmed") {
  const Schedule schedule = behind_link(sound());
  REQUIRE(validate(schedule).empty());
  const std::size_t sent = find_task(schedule, broadcast, 1);
  const Schedule bad = moved(schedule, sent, find_task(schedule, confirm, 1));
  check_found(bad, find_task(bad, broadcast, 1), "has speculated and no task has confirmed");
}

TEST_CASE("Fault: weights are used that no task confirms") {
  const Schedule schedule = sound();
  Schedule bad = test::without_task(schedule, find_task(schedule, confirm, 1));
  derive_order(bad);
  check_found(bad, find_task(bad, broadcast, 1), "has speculated and no task has confirmed");
  check_found(bad, find_task(bad, speculate, 1), "is confirmed by no task");
}

TEST_CASE("Fault: a confirmation of what was not speculated") {
  const Schedule schedule = sound();
  Schedule bad = schedule;
  const std::size_t twin = find_task(bad, confirm, 1);
  bad = test::with_twin(bad, twin);
  derive_order(bad);
  check_found(bad, find_task(bad, confirm, 1, 1), "which no task has speculated");
}

TEST_CASE("Fault: a gradient that changes between an update and its confirmation") {
  const Schedule schedule = test::owner(2, true, false, true);
  const Schedule bad =
      moved(schedule, find_task(schedule, speculate, 2), find_task(schedule, reduce, 2));
  check_found(bad, find_task(bad, confirm, 2), "has worked with");
}

TEST_CASE("A builder speculates only on a norm that it needs, and confirms only once it is there") {
  Outline outline = test::pipeline_outline("owner", 1, 1);
  outline.part_owners = {0};
  ScheduleBuilder plain(outline);
  CHECK_THROWS_AS(plain.speculate(0, 0), InternalError);
  outline.clips = true;
  ScheduleBuilder clips(outline);
  CHECK_THROWS_AS(clips.confirm(0, 0), InternalError);
}

}  // namespace
}  // namespace zygos::schedule::test_speculation_faults
