// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Statistics of a batch that is divided: who makes them, who waits for them, and what is wrong if
// they are not all.
#include "schedule/mutations.hpp"
#include "schedule/order/order.hpp"
#include "schedule/sample_schedules.hpp"

#include "zygos/core/error.hpp"
#include "zygos/schedule/batch_statistics.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

namespace zygos::schedule::test_batch_statistics {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using test::find_task;
using enum TaskKind;

/// One place with one node, which needs statistics, and `micro_batches` of two samples.
Outline one_node(std::int32_t micro_batches) {
  Outline outline;
  outline.policy = "one";
  outline.places = {{"a", true, 0}};
  outline.model = test::chain(1);
  outline.model.nodes[0].statistics = 3;
  outline.batch = 2 * micro_batches;
  for (std::int64_t i = 0; i < micro_batches; ++i) {
    outline.micro_batches.push_back({2 * i, 2 * i + 2});
  }
  return outline;
}

void add_pass(ScheduleBuilder& builder, MicroBatch micro_batch) {
  builder.load(0, micro_batch);
  builder.forward(0, micro_batch);
  builder.loss(0, micro_batch);
  builder.backward(0, micro_batch);
}

Schedule passes(Outline outline) {
  ScheduleBuilder builder(std::move(outline));
  for (MicroBatch i = 0; i < std::ssize(builder.outline().micro_batches); ++i) {
    add_pass(builder, i);
  }
  builder.update(0);
  return std::move(builder).build();
}

std::string kinds_of(const Schedule& schedule) {
  std::string text;
  for (const Task& task : schedule.tasks) {
    text += std::string(name_of(task.kind)) + (task.of_gradients ? "'" : "") + " ";
  }
  return text;
}

void check_found(const Schedule& spoilt, std::size_t id, const std::string& what) {
  CHECK_THAT(test::findings_of(spoilt),
             ContainsSubstring(test::name_start(id)) && ContainsSubstring(what));
}

TEST_CASE("Passes stop where statistics of the whole batch are due, and nowhere else") {
  CHECK(kinds_of(passes(one_node(2))) ==
        "load statistics load statistics all_gather forward loss statistics' forward loss "
        "statistics' all_gather' backward backward update ");
  CHECK(kinds_of(passes(one_node(1))) == "load forward loss backward update ");
  Outline outline = one_node(2);
  outline.model.nodes[0].statistics = 0;
  CHECK(kinds_of(passes(outline)) ==
        "load forward loss backward load forward loss backward update ");
}

TEST_CASE("Chunks of strict mode have statistics of their own") {
  Outline outline = one_node(1);
  outline.chunk = 1;
  const Schedule schedule = passes(outline);

  CHECK(kinds_of(schedule) ==
        "load statistics all_gather forward loss statistics' all_gather' backward update ");
  CHECK(statistics_rows(schedule).size() == 2);
}

TEST_CASE("Micro-batches with an update each do not wait for each other") {
  Outline outline = one_node(2);
  outline.updates = outline.micro_batches;
  ScheduleBuilder builder(std::move(outline));
  for (const MicroBatch i : {0, 1}) {
    add_pass(builder, i);
    builder.update(0);
  }
  CHECK(kinds_of(std::move(builder).build()) ==
        "load forward loss backward update load forward loss backward update ");
}

TEST_CASE("Rows of statistics are in the order of samples") {
  Schedule schedule;
  schedule.chunk = 2;
  schedule.micro_batches = {{4, 9}, {9, 9}, {0, 4}};
  schedule.updates = {{0, 4}, {4, 9}};
  const auto rows = statistics_rows(schedule);

  CHECK(rows == std::vector<SampleRange>{{0, 2}, {2, 4}, {4, 6}, {6, 8}, {8, 9}});
  CHECK(rows_within(rows, {4, 9}).begin == 2);
  CHECK(rows_within(rows, {4, 9}).end == 5);
  CHECK(rows_within(rows, {9, 9}).count() == 0);
  CHECK(update_of(schedule, {4, 9}) == 1);
  CHECK(divides_statistics(schedule, 1));
  schedule.chunk = 0;
  CHECK_FALSE(divides_statistics(schedule, 1));
}

TEST_CASE("Places send each other the rows that they have") {
  const Schedule schedule = test::statistics();
  // Of the first node a row is two numbers, of the second three; the first place has two rows.
  std::vector<std::int64_t> sent;
  for (const Task& task : schedule.tasks) {
    if (task.kind == broadcast && task.payload == Payload::statistics) {
      sent.push_back(task.bytes);
    }
  }
  CHECK(sent == std::vector<std::int64_t>{32, 16, 48, 24, 48, 24, 32, 16});
  const std::size_t gather = find_task(schedule, all_gather, 1);
  CHECK(schedule.tasks[gather].bytes == 32);
  CHECK(schedule.name_of(static_cast<TaskId>(gather)) == "all_gather@b statistics nodes 0-1");
  CHECK_THAT(schedule.text(),
             ContainsSubstring("writes statistics node 1 mb 0 slot 1") &&
                 ContainsSubstring("reads statistics node 0 mb 2, message 2@a; writes "
                                   "batch_statistics node 0"));
}

TEST_CASE("Evaluation knows nothing of a batch's statistics") {
  const Schedule evaluation = test::statistics().for_evaluation();

  CHECK(validate(evaluation).empty());
  CHECK(std::ranges::count(evaluation.tasks, statistics, &Task::kind) == 0);
}

TEST_CASE("A policy that updates before all statistics can be there is refused by name") {
  Outline outline = one_node(2);
  ScheduleBuilder builder(std::move(outline));
  add_pass(builder, 0);
  builder.update(0);
  add_pass(builder, 1);
  CHECK_THROWS_MATCHES(std::move(builder).build(), UsageError,
                       MessageMatches(ContainsSubstring("policy 'one' updates weights") &&
                                      ContainsSubstring("'group' or 'deferred'")));
}

TEST_CASE("Fault: statistics that leave out samples") {
  Schedule bad = test::statistics();
  REQUIRE(validate(bad).empty());
  const std::size_t id = find_task(bad, all_gather, 1, 1);
  std::erase_if(bad.tasks[id].reads,
                [](const Buffer& buffer) { return buffer.kind == BufferKind::statistics; });
  check_found(bad, id, "leaves out the statistics of samples 4-6");
}

TEST_CASE("Fault: statistics of samples that are taken twice") {
  Schedule bad = test::statistics();
  const std::size_t id = find_task(bad, all_gather, 0);
  const std::size_t own = find_task(bad, statistics, 0);
  bad.tasks[id].reads.push_back(bad.tasks[own].writes.front());
  check_found(bad, id, "takes the statistics of samples 0-2 twice");
}

TEST_CASE("Fault: statistics in front of what they are of") {
  Schedule bad = test::statistics();
  const std::size_t id = find_task(bad, statistics, 0, 2);
  REQUIRE(bad.tasks[id].nodes.begin == 1);
  for (Task& task : bad.tasks) {
    if (task.kind == forward && task.place == 0 && task.micro_batch == 0) {
      task.nodes.end = std::min(task.nodes.end, 3);
      task.nodes.begin = task.nodes.begin == 0 ? 0 : 2;
      task.nodes.end = task.nodes.begin == 0 ? 2 : 3;
    }
  }
  CHECK_THAT(test::findings_of(bad),
             ContainsSubstring(test::name_start(id)) || ContainsSubstring("batch_statistics"));
}

TEST_CASE("Fault: a node that needs statistics and does not read them") {
  Schedule bad = test::statistics();
  const std::size_t id = find_task(bad, forward, 1, 1);
  std::erase_if(bad.tasks[id].reads,
                [](const Buffer& buffer) { return buffer.kind == BufferKind::batch_statistics; });
  check_found(bad, id, "does not read batch_statistics@b node 1, as its forward has to");
}

TEST_CASE("Fault: statistics for a node that needs none") {
  Schedule bad = test::statistics();
  const std::size_t id = find_task(bad, statistics, 0);
  bad.tasks[id].nodes = {2, 3};
  check_found(bad, id, "it has to be of one in its stage that needs statistics");
}

}  // namespace
}  // namespace zygos::schedule::test_batch_statistics
