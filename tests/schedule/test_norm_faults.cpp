// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Faults in what an update is clipped by, which leave every buffer and every order in place.
#include "schedule/mutations.hpp"
#include "schedule/order/order.hpp"
#include "schedule/sample_schedules.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

namespace zygos::schedule::test_norm_faults {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using test::find_task;
using enum TaskKind;

/// Two updates on one place, each clipped by its own norm.
Schedule two_updates() {
  Outline outline = test::pipeline_outline("twice", 1, 2);
  outline.updates = outline.micro_batches;
  outline.clips = true;
  ScheduleBuilder builder(std::move(outline));
  for (const MicroBatch micro_batch : {0, 1}) {
    builder.load(0, micro_batch);
    builder.forward(0, micro_batch);
    builder.loss(0, micro_batch);
    builder.backward(0, micro_batch);
    builder.update(0);
  }
  return std::move(builder).build();
}

void check_found(const Schedule& spoilt, std::size_t id, const std::string& what) {
  CHECK_THAT(test::findings_of(spoilt),
             ContainsSubstring(test::name_start(id)) && ContainsSubstring(what));
}

TEST_CASE("Fault: a norm without the squares of a stage") {
  Schedule bad = test::clipped_gpipe(3, 2);
  REQUIRE(validate(bad).empty());
  const std::size_t id = find_task(bad, norm, 0);
  std::erase_if(bad.tasks[id].reads, [](const Buffer& buffer) {
    return buffer.kind == BufferKind::message && buffer.place == 1;
  });
  derive_order(bad);
  check_found(bad, id, "leaves out the squares of elements 20-40");
}

TEST_CASE("Fault: squares of a gradient that is added to afterwards") {
  Schedule bad = test::clipped_gpipe(2, 2);
  const std::size_t last = find_task(bad, backward, 1, 1);
  const std::size_t id = find_task(bad, squares, 1);
  Task moved = bad.tasks[id];
  bad = test::without_task(bad, id);
  bad.tasks.insert(bad.tasks.begin() + static_cast<std::ptrdiff_t>(last), moved);
  derive_order(bad);
  check_found(bad, find_task(bad, update, 1), "after its squares were summed");
}

TEST_CASE("Fault: an update that is clipped by the norm of another") {
  const Schedule sound = two_updates();
  REQUIRE(validate(sound).empty());
  Schedule bad = sound;
  const std::size_t second = find_task(bad, norm, 0, 1);
  bad.tasks[second].update = 0;
  check_found(bad, second, "makes the norm of update 0 from squares of update 1");
  check_found(bad, find_task(bad, update, 0, 1), "clips update 1 by the norm of update 0");
  Schedule stale = test::without_task(sound, second);
  stale = test::without_task(stale, find_task(stale, squares, 0, 1));
  check_found(stale, find_task(stale, update, 0, 1), "clips update 1 by the norm of update 0");
}

TEST_CASE("A builder that clips measures what a place has of the whole model by itself") {
  const Schedule schedule = two_updates();
  CHECK(std::ranges::count(schedule.tasks, squares, &Task::kind) == 2);
  CHECK(std::ranges::count(schedule.tasks, norm, &Task::kind) == 2);
  CHECK(schedule.traffic_messages() == 0);
}

TEST_CASE("A builder that clips refuses to update a part without the squares of the others") {
  Outline outline = test::pipeline_outline("parts", 2, 1);
  outline.clips = true;
  ScheduleBuilder builder(std::move(outline));
  CHECK_THROWS_MATCHES(
      builder.update(0), UsageError,
      MessageMatches(ContainsSubstring("policy 'parts'") && ContainsSubstring("clip_norm")));
}

}  // namespace
}  // namespace zygos::schedule::test_norm_faults
