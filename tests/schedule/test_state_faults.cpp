// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Faults in the way of optimizer states from a file to their update and back, which leave every
// buffer and every order in place.
#include "schedule/mutations.hpp"
#include "schedule/order/order.hpp"
#include "schedule/sample_schedules.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::schedule::test_state_faults {
namespace {

using Catch::Matchers::ContainsSubstring;
using test::find_task;
using enum TaskKind;

/// Place 1 owns the weights of place 0 and keeps their states in a file.
Schedule sound() { return test::owner(1, false, false, false, true); }

void check_found(const Schedule& spoilt, std::size_t id, const std::string& what) {
  CHECK_THAT(test::findings_of(spoilt),
             ContainsSubstring(test::name_start(id)) && ContainsSubstring(what));
}

TEST_CASE("An owner whose states rest in a file has a sound schedule, and says so") {
  const Schedule schedule = sound();
  CHECK(validate(schedule).empty());
  CHECK(validate(schedule.for_evaluation()).empty());
  CHECK_THAT(schedule.text(), ContainsSubstring("owner (owner), its states in a file"));
}

TEST_CASE("Fault: states that are not read before their update") {
  Schedule bad = test::without_task(sound(), find_task(sound(), read_states, 1));
  derive_order(bad);
  check_found(bad, find_task(bad, update, 1), "before any task has written it");
}

TEST_CASE("Fault: updated states that no task writes to the file") {
  Schedule bad = test::without_task(sound(), find_task(sound(), write_states, 1));
  derive_order(bad);
  check_found(bad, find_task(bad, update, 1), "which no task writes to the file");
}

TEST_CASE("Fault: states that are written before their update") {
  Schedule bad = sound();
  const std::size_t updated = find_task(bad, update, 1);
  bad = test::swapped(bad, updated, find_task(bad, write_states, 1));
  derive_order(bad);
  check_found(bad, find_task(bad, update, 1), "which no task writes to the file");
}

TEST_CASE("Fault: states that are read over those of an update") {
  Schedule bad = sound();
  const Task read = bad.tasks[find_task(bad, read_states, 1)];
  const std::size_t written = find_task(bad, write_states, 1);
  bad.tasks.insert(bad.tasks.begin() + static_cast<std::ptrdiff_t>(written), read);
  derive_order(bad);
  check_found(bad, find_task(bad, read_states, 1, 1), "no task has written to the file");
}

TEST_CASE("Fault: states of a place that keeps them in its memory are moved") {
  Schedule bad = sound();
  bad.spills_states.assign(bad.places.size(), false);
  check_found(bad, find_task(bad, read_states, 1), "rest in its memory");
  check_found(bad, find_task(bad, write_states, 1), "rest in its memory");
}

TEST_CASE("A schedule that says the tier of states of too few places is refused by its head") {
  Schedule bad = sound();
  bad.spills_states.pop_back();
  CHECK_THAT(test::findings_of(bad), ContainsSubstring("tier of states"));
  bad = test::two_place_split();
  bad.spills_states.assign(bad.places.size(), true);
  CHECK_THAT(test::findings_of(bad), ContainsSubstring("parts have no owners"));
}

TEST_CASE(
    "A builder keeps states in a file only of a place that owns parts and reads host memory") {
  Outline outline = test::pipeline_outline("owner", 1, 1);
  outline.part_owners = {0};
  outline.spills_states = {true};
  outline.clips = true;
  ScheduleBuilder speculates(outline);
  CHECK_THROWS_AS(speculates.speculate(0, 0), InternalError);
  outline.clips = false;
  ScheduleBuilder whole(outline);
  CHECK_THROWS_AS(whole.update(0), InternalError);
  outline.places[0].host_accessible = false;
  ScheduleBuilder staged(outline);
  CHECK_THROWS_AS(staged.update(0, 0), InternalError);
}

}  // namespace
}  // namespace zygos::schedule::test_state_faults
