// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/two_place_split.hpp"

#include "zygos/schedule/schedule.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

namespace zygos::schedule {
namespace {

using Catch::Matchers::ContainsSubstring;

/// The only finding of a schedule that has one.
std::string only_finding(const Schedule& schedule) {
  const auto findings = validate(schedule);
  CAPTURE(findings);
  REQUIRE(findings.size() == 1);
  return findings.front();
}

/// All findings in one text.
std::string findings_of(const Schedule& schedule) {
  std::string all;
  for (const std::string& finding : validate(schedule)) {
    all += finding + "\n";
  }
  return all;
}

TEST_CASE("A sound schedule has no findings") { CHECK(validate(test::two_place_split()).empty()); }

TEST_CASE("A dropped dependency between places is found with both tasks") {
  Schedule schedule = test::two_place_split();

  schedule.tasks[11].after.clear();

  const std::string found = findings_of(schedule);
  CHECK_THAT(found, ContainsSubstring("task 11 (all_reduce@host)") &&
                        ContainsSubstring("sent_gradients@device mb0 v0"));
  CHECK_THAT(found, !ContainsSubstring("all_reduce@device"));
}

TEST_CASE("A swapped buffer is found with its reader") {
  Schedule schedule = test::two_place_split();

  // Backward on the device is pointed at the host's prediction gradient.
  std::ranges::replace(schedule.tasks[8].reads, Buffer{BufferKind::prediction_gradient, 1, 0, 0},
                       Buffer{BufferKind::prediction_gradient, 0, 0, 0});

  CHECK_THAT(findings_of(schedule),
             ContainsSubstring("task 8 (backward@device nodes 0-3 samples 3-10)") &&
                 ContainsSubstring("prediction_gradient@host mb0 v0"));
}

TEST_CASE("Two unordered writes of one buffer are found with both writers") {
  Schedule schedule = test::two_place_split();

  schedule.tasks[14].writes.push_back({BufferKind::weights, 0, 0, 0});

  CHECK(only_finding(schedule) ==
        "task 13 (update@host) and task 14 (update@device) both use weights@host mb0 v0, one of "
        "them writes it, and nothing orders them");
}

TEST_CASE("A write that nothing orders after an earlier read is found with both tasks") {
  Schedule schedule = test::two_place_split();

  // The host overwrites what it sent, perhaps before the device has read it.
  schedule.tasks[13].writes.push_back({BufferKind::sent_gradients, 0, 0, 0});

  CHECK(only_finding(schedule) ==
        "task 12 (all_reduce@device) and task 13 (update@host) both use sent_gradients@host mb0 "
        "v0, one of them writes it, and nothing orders them");
}

TEST_CASE("A buffer read before it is written is found with its reader") {
  Schedule schedule = test::two_place_split();

  std::swap(schedule.tasks[1], schedule.tasks[2]);  // loss before forward

  CHECK(only_finding(schedule) ==
        "task 1 (loss@host samples 0-3) reads activations@host mb0 v0 before any task has written "
        "it");
}

TEST_CASE("A missing copy is found with the task that lacks its inputs") {
  Schedule schedule = test::two_place_split();

  schedule.tasks[5].writes.clear();

  CHECK_THAT(findings_of(schedule),
             ContainsSubstring("task 6 (forward@device nodes 0-3 samples 3-10) reads inputs@device "
                               "mb0 v0 before any task has written it"));
}

TEST_CASE("A cycle through the order of a place is found, with the tasks on it and no others") {
  Schedule schedule = test::two_place_split();

  // The host's send waits for the device's all-reduce, which waits for it.
  schedule.tasks[9].after = {12};

  CHECK(only_finding(schedule) ==
        "deadlock: task 9 (send@host) waits for task 12 (all_reduce@device) waits for task 9 "
        "(send@host)");
}

TEST_CASE("A task that only waits for a cycle is not said to be on it") {
  Schedule schedule{"waiting", {"a", "b", "c"}, 0, std::vector<Task>(3)};
  for (Place place = 0; place < 3; ++place) {
    Task& task = schedule.tasks[static_cast<std::size_t>(place)];
    task.kind = TaskKind::update;
    task.place = place;
    task.after = {place == 1 ? 2 : 1};
  }

  CHECK(only_finding(schedule) ==
        "deadlock: task 1 (update@b) waits for task 2 (update@c) waits for task 1 (update@b)");
}

TEST_CASE("A task that waits for itself is a deadlock") {
  Schedule schedule = test::two_place_split();

  schedule.tasks[0].after = {0};

  CHECK(only_finding(schedule) ==
        "deadlock: task 0 (load@host samples 0-3) waits for task 0 (load@host samples 0-3)");
}

TEST_CASE("A dependency on a task that does not exist is found") {
  Schedule schedule = test::two_place_split();

  schedule.tasks[2].after = {99};

  CHECK(only_finding(schedule) ==
        "task 2 (loss@host samples 0-3) waits for task 99, which does not exist");
}

TEST_CASE("A place that the run does not have is found") {
  Schedule schedule = test::two_place_split();

  schedule.tasks[14].place = 2;

  CHECK(only_finding(schedule) == "task 14 (update@2) is on place 2; the run has 2");
}

TEST_CASE("Lost samples are found") {
  Schedule schedule = test::two_place_split();

  schedule.tasks[4].samples.begin = 4;

  CHECK(only_finding(schedule) == "samples 3-4 are lost: no task does the load of them");
}

TEST_CASE("Samples lost at the end of the batch are found") {
  Schedule schedule = test::two_place_split();

  schedule.batch = 12;

  CHECK_THAT(findings_of(schedule),
             ContainsSubstring("samples 10-12 are lost: no task does the load of them"));
}

TEST_CASE("Samples counted twice are found with the task that repeats them") {
  Schedule schedule = test::two_place_split();

  schedule.tasks[4].samples.begin = 1;

  CHECK(only_finding(schedule) ==
        "task 4 (load@device samples 1-10) does the load of samples 1-3 a second time");
}

TEST_CASE("A pass over fewer samples than were loaded is found") {
  Schedule schedule = test::two_place_split();

  schedule.tasks[8].samples.end = 9;

  CHECK(only_finding(schedule) ==
        "samples 9-10 are lost: no task does the backward (nodes 0-3) of them");
}

TEST_CASE("Nodes that a place leaves out are found") {
  Schedule schedule = test::two_place_split();

  schedule.tasks[6].nodes.end = 2;

  CHECK(only_finding(schedule) ==
        "samples 3-10 are lost: no task does the forward (nodes 2-3) of them");
}

TEST_CASE("Samples beyond the batch are found") {
  Schedule schedule = test::two_place_split();

  schedule.tasks[7].samples.end = 11;

  CHECK(only_finding(schedule) == "task 7 (loss@device samples 3-11) goes beyond the batch of 10");
}

TEST_CASE("A hundred thousand tasks are validated") {
  Schedule schedule{"long", {"a", "b"}, 0, {}};
  for (TaskId id = 0; id < 100000; ++id) {
    Task task;
    task.kind = TaskKind::update;
    task.place = id % 2;
    task.reads = task.writes = {{BufferKind::weights, 0, 0, 0}};
    if (id > 0) {
      task.after = {id - 1};
    }
    schedule.tasks.push_back(task);
  }

  CHECK(validate(schedule).empty());
  schedule.tasks[77777].after.clear();
  CHECK_THAT(only_finding(schedule), ContainsSubstring("task 77777 (update@b)"));
}

}  // namespace
}  // namespace zygos::schedule
