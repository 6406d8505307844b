// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What findings say. Which faults are found is in test_planted_faults, test_mutations and
// test_wrong_fields.
#include "schedule/mutations.hpp"
#include "schedule/sample_schedules.hpp"

#include "zygos/schedule/schedule.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

namespace zygos::schedule::test_validate {
namespace {

using Catch::Matchers::ContainsSubstring;

/// The only finding of a schedule that has one.
std::string only_finding(const Schedule& schedule) {
  const auto findings = validate(schedule);
  CAPTURE(findings);
  REQUIRE(findings.size() == 1);
  return findings.front();
}

TEST_CASE("Sound schedules have no findings") {
  for (const test::Sample& sample : test::all_samples()) {
    CAPTURE(sample.name);
    CHECK(validate(sample.schedule) == std::vector<std::string>{});
    CHECK(validate(sample.schedule.for_evaluation()) == std::vector<std::string>{});
  }
}

TEST_CASE("A schedule without tasks or without an update is sound") {
  CHECK(validate(Schedule{}).empty());
  CHECK(validate(test::without_task(test::gpipe(1, 2, false), 8)).empty());
}

TEST_CASE("Two accesses without an order are named with the buffer they meet in") {
  Schedule schedule = test::two_place_split();

  schedule.tasks[11].after.clear();

  CHECK(only_finding(schedule) ==
        "task 10 (broadcast@device gradients) and task 11 (all_reduce@host gradients) both use "
        "message 1@device, one of them writes it, and nothing orders them");
}

TEST_CASE("A buffer read before it is written is named with its reader") {
  const Schedule schedule = test::swapped(test::two_place_split(), 1, 2);  // loss before forward

  CHECK(only_finding(schedule) ==
        "task 1 (loss@host mb 0 samples 0-3) reads outputs@host mb 0 before any task has written "
        "it");
}

TEST_CASE("A cycle through the order of a queue is named with the tasks on it and no others") {
  Schedule schedule = test::two_place_split();

  // The host's broadcast waits for the device's all-reduce, which waits for it.
  schedule.tasks[9].after = {12};

  CHECK(validate(schedule).front() ==
        "deadlock: task 9 (broadcast@host gradients) waits for task 12 (all_reduce@device "
        "gradients) waits for task 9 (broadcast@host gradients)");
}

TEST_CASE("A task that waits for itself is a deadlock") {
  Schedule schedule = test::two_place_split();

  schedule.tasks[0].after = {0};

  CHECK(only_finding(schedule) ==
        "deadlock: task 0 (load@host mb 0 samples 0-3) waits for task 0 (load@host mb 0 samples "
        "0-3)");
}

TEST_CASE("A dependency on a task that does not exist is named") {
  Schedule schedule = test::two_place_split();

  schedule.tasks[2].after = {99};

  CHECK(only_finding(schedule) ==
        "task 2 (loss@host mb 0 samples 0-3) waits for task 99, which does not exist");
}

TEST_CASE("A place that the run does not have is named") {
  Schedule schedule = test::two_place_split();

  schedule.tasks[14].place = 2;

  CHECK(only_finding(schedule) == "task 14 (update@2 v1) is on place 2; the run has 2");
}

TEST_CASE("Samples that are lost or beyond the batch are named") {
  Schedule schedule = test::two_place_split();
  schedule.batch = 12;
  CHECK_THAT(test::findings_of(schedule),
             ContainsSubstring("samples 10-12 are lost: no task does the loss of them"));

  schedule.batch = 9;
  CHECK_THAT(
      test::findings_of(schedule),
      ContainsSubstring("task 7 (loss@device mb 1 samples 3-10) goes beyond the batch of 9"));
}

TEST_CASE("Micro-batches that overlap are named with the task that repeats samples") {
  Schedule schedule = test::two_place_split();
  schedule.micro_batches[1].begin = 1;
  for (Task& task : schedule.tasks) {
    task.samples.begin = task.samples.begin == 3 ? 1 : task.samples.begin;
  }

  CHECK_THAT(test::findings_of(schedule),
             ContainsSubstring("task 7 (loss@device mb 1 samples 1-10) does the loss of samples "
                               "1-3 a second time"));
}

TEST_CASE("Nodes that a place leaves out are named") {
  Schedule schedule = test::two_place_split();

  schedule.tasks[6].nodes.end = 2;

  CHECK_THAT(
      test::findings_of(schedule),
      ContainsSubstring("task 8 (backward@device nodes 0-3 mb 1 samples 3-10 v0) comes before "
                        "forward of nodes 2-3") &&
          ContainsSubstring("samples 3-10 are lost: no task does the forward (nodes 2-3) of them"));
}

TEST_CASE("What a task should read and does not, and the other way round, is named") {
  Schedule schedule = test::gpipe(2, 2, false);
  Buffer& read = schedule.tasks[21].reads[2];
  REQUIRE(read.kind == BufferKind::activations);
  read.micro_batch = 0;

  const auto findings = validate(schedule);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0] ==
        "task 21 (backward@a nodes 0-2 mb 1 samples 2-4 v0) does not read activations@a mb 1, as "
        "its backward has to");
  CHECK(findings[1] ==
        "task 21 (backward@a nodes 0-2 mb 1 samples 2-4 v0) reads activations@a mb 0, which its "
        "backward has no business with");
}

}  // namespace
}  // namespace zygos::schedule::test_validate
