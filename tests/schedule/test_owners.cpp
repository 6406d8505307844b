// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Places that own parameters which they do not compute with, and what a policy promises of the end
// of a step.
#include "schedule/builder/stage_facts.hpp"
#include "schedule/mutations.hpp"
#include "schedule/order/order.hpp"
#include "schedule/sample_schedules.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::schedule::test_owners {
namespace {

using Catch::Matchers::ContainsSubstring;
using enum TaskKind;

TEST_CASE("A place may own all parameters and compute nothing") {
  const Schedule schedule = test::owner(2);

  CHECK(validate(schedule).empty());
  CHECK_THAT(schedule.text(), ContainsSubstring("places a (stage 0), b (stage 0), owner (owner)"));
  const PlaceFacts facts(schedule);
  CHECK(facts[2].nodes.count() == 0);
  CHECK(facts[2].elements == ElementRange{0, 20});
  CHECK(facts[2].parts == std::vector<std::int32_t>{0, 1});
  CHECK(facts[0].nodes == NodeRange{0, 2});
  CHECK(owns_parts(schedule, 2));
  CHECK_FALSE(owns_parts(schedule, 0));
}

TEST_CASE("An owner's update before all gradients have come is found") {
  Schedule schedule = test::owner(2);
  const std::size_t reduce_task = test::find_task(schedule, reduce, 2);
  schedule = test::without_task(std::move(schedule), reduce_task);
  CHECK_FALSE(validate(schedule).empty());
}

TEST_CASE("Weights that an owner keeps to itself are found, unless no such promise is made") {
  Schedule schedule = test::owner(1);
  const std::size_t received = test::find_task(schedule, receive, 0);
  const std::size_t sent = test::find_task(schedule, broadcast, 1);
  schedule = test::without_task(std::move(schedule), received);
  schedule = test::without_task(std::move(schedule), sent);
  CHECK_THAT(
      test::findings_of(schedule),
      ContainsSubstring("stage 0 ends the step with weights v1 on a part 0 and v0 on a part 1"));

  schedule.equal_replicas = false;
  CHECK(test::findings_of(schedule).empty());
}

TEST_CASE("A place without stage and parts has no tasks, and an owner none of samples") {
  Schedule schedule = test::owner(1);
  schedule.part_owners = {0, 0};
  CHECK_THAT(test::findings_of(schedule), ContainsSubstring("is on a place that has no stage"));

  schedule = test::owner(1);
  schedule.tasks[test::find_task(schedule, load, 0)].place = 1;
  CHECK_THAT(test::findings_of(schedule), ContainsSubstring("is on a place that has no stage"));
}

TEST_CASE("Edges from the step before need a schedule without a barrier, and tasks that exist") {
  Schedule schedule = test::gpipe(2, 2, false);
  schedule.tasks[0].after_previous = {static_cast<TaskId>(schedule.tasks.size() - 1)};
  CHECK_THAT(test::findings_of(schedule), ContainsSubstring("a barrier already does"));

  schedule.barrier = false;
  CHECK(test::findings_of(schedule).empty());

  schedule.tasks[0].after_previous = {static_cast<TaskId>(schedule.tasks.size())};
  CHECK_THAT(test::findings_of(schedule),
             ContainsSubstring("of the step before, which does not exist"));
}

TEST_CASE("A version that rests in host memory is fetched before the pass that needs it") {
  const Schedule sound = test::pipedream(3, 4, false, Tier::host);
  REQUIRE(validate(sound).empty());

  // Without its fetch, slot 1 of the lane holds another version.
  Schedule lacking = test::without_task(sound, test::find_task(sound, fetch, 0, 1));
  derive_order(lacking);
  CHECK_THAT(test::findings_of(lacking), ContainsSubstring("needs weights v1; weights@a slot 1"));

  // A fetch of the wrong slot brings another version.
  Schedule wrong = sound;
  const std::size_t id = test::find_task(wrong, fetch, 0, 1);
  ++wrong.tasks[id].version;
  CHECK_THAT(test::findings_of(wrong), ContainsSubstring(test::name_start(id)));
}

TEST_CASE("A version that rests in a file is read before the pass that needs it") {
  for (const bool staged : {false, true}) {
    CAPTURE(staged);
    const Schedule sound = test::pipedream(3, 5, false, Tier::file, staged);
    REQUIRE(validate(sound).empty());
    CHECK(validate(sound.for_evaluation()).empty());

    // Without its last read, the pass behind it finds the version of the one before.
    Schedule lacking = test::without_task(sound, test::find_task(sound, read_weights, 0, 2));
    derive_order(lacking);
    CHECK_THAT(test::findings_of(lacking), ContainsSubstring("needs weights v2; "));

    // A read of another slot brings another version.
    Schedule wrong = sound;
    Task& read = wrong.tasks[test::find_task(wrong, read_weights, 0, 2)];
    read.slot = read.reads[0].slot = 3 - read.slot;
    derive_order(wrong);
    CHECK_THAT(test::findings_of(wrong),
               ContainsSubstring("needs weights v2; spilled_weights@a slot 2 holds v1"));
  }
}

}  // namespace
}  // namespace zygos::schedule::test_owners
