// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/mutations.hpp"
#include "schedule/sample_schedules.hpp"

#include "zygos/schedule/schedule.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace zygos::schedule::test_schedule {
namespace {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("The page about schedules shows one as it is printed") {
  std::ifstream file("docs/schedules.md");
  REQUIRE(file);
  std::stringstream page;
  page << file.rdbuf();

  CHECK_THAT(page.str(), ContainsSubstring("```text\n" + test::gpipe(2, 1, false).text() + "```"));
}

TEST_CASE("The text has eight lines, one per task, and one for segments") {
  for (const test::Sample& sample : test::all_samples()) {
    const std::string text = sample.schedule.text();
    CAPTURE(sample.name, text);
    CHECK(std::ranges::count(text, '\n') ==
          static_cast<std::ptrdiff_t>(sample.schedule.tasks.size()) +
              (sample.schedule.segments.empty() ? 8 : 9));
  }
}

TEST_CASE("The text says stages, replicas, skips, chunks and places that are idle") {
  std::string text = test::gpipe_with_skip(2).text();
  CHECK_THAT(text, ContainsSubstring("stages of nodes 0-2, 2-4, 4-6\n") &&
                       ContainsSubstring("activations from stage 0 to 1 (nodes 0 1), 0 to 2 (nodes "
                                         "0), 1 to 2 (nodes 3)\n") &&
                       ContainsSubstring("gradients from stage 1 to 0 (nodes 0 1), 2 to 1 (nodes 0 "
                                         "3)\n"));

  Schedule idle = test::gpipe(1, 1, false);
  idle.places.emplace_back("spare");
  idle.stage_of.push_back(-1);
  idle.chunk = 4;
  CHECK_THAT(idle.text(), ContainsSubstring("policy gpipe, batch 2, chunks of 4\n") &&
                              ContainsSubstring("places a (stage 0), spare (idle)\n"));
}

TEST_CASE("A task's line says queue, waits, bytes and other places' buffers") {
  const std::string text = test::two_place_split().text();
  CHECK_THAT(text, ContainsSubstring("12: all_reduce@device gradients; after 9; 120 bytes; reads "
                                     "gradients part 0, message 0@host, gradients@host part 0; "
                                     "writes reduced_gradients part 0\n"));
  CHECK_THAT(
      test::pipedream(3, 4, true).text(),
      ContainsSubstring("average@a v4; every 2 steps; reads weights, weights slot 1, weights "
                        "slot 2; writes weights\n"));
  CHECK_THAT(test::gpipe(2, 2, true).text(),
             ContainsSubstring("forward@a nodes 0-2 mb 1 samples 2-4 (not kept) v0; reads"));
}

TEST_CASE("A task's name says kind, place, peer, payload, nodes, samples and version") {
  const Schedule split = test::two_place_split();
  CHECK(split.name_of(6) == "forward@device nodes 0-3 mb 1 samples 3-10 v0");
  CHECK(split.name_of(5) == "copy@device mb 1 samples 3-10");
  CHECK(split.name_of(13) == "update@host v1");
  const Schedule ring = test::ring(4);
  const auto id = static_cast<TaskId>(test::find_task(ring, TaskKind::reduce, 1));
  CHECK(ring.name_of(id) == "reduce@b from a gradients elements 0-20");
}

TEST_CASE("A buffer's text says what, where, micro-batch, slot and part") {
  const std::vector<std::string> places{"host", "device"};
  CHECK(text_of({BufferKind::activations, 1, 2, 1, 0}, places) == "activations@device mb 2 slot 1");
  CHECK(text_of({BufferKind::gradients, 0, 0, 0, 3}, places) == "gradients@host part 3");
  CHECK(text_of({BufferKind::weights, 0, 0, 2, 0}, places) == "weights@host slot 2");
  CHECK(text_of({BufferKind::message, 1, 0, 0, 7}, places) == "message 7@device");
  CHECK(text_of({BufferKind::message, 5, 0, 0, 7}, places) == "message 7@5");
  CHECK(text_of({BufferKind::batch, 0, 0, 0, 0}, places) == "batch");
}

TEST_CASE("Places have the samples they load; places without tasks are not active") {
  Schedule schedule = test::two_place_split();
  schedule.places.emplace_back("spare");
  schedule.stage_of.push_back(-1);

  CHECK(schedule.active_places() == std::vector<Place>{0, 1});
  CHECK(schedule.samples_of(1) == SampleRange{3, 10});
  CHECK(schedule.samples_of(2).count() == 0);
}

TEST_CASE("Evaluation keeps loads, forward passes, losses and what goes between them") {
  const Schedule evaluation = test::pipedream(3, 4, true).for_evaluation();

  CHECK(std::ranges::all_of(evaluation.tasks,
                            [&](const Task& task) { return evaluates(evaluation, task); }));
  CHECK(std::ranges::count(evaluation.tasks, TaskKind::loss, &Task::kind) == 4);
  CHECK(std::ranges::count(evaluation.tasks, TaskKind::forward, &Task::kind) == 12);
  CHECK(std::ranges::count(evaluation.tasks, TaskKind::send, &Task::kind) == 8);
  CHECK(std::ranges::all_of(evaluation.tasks, [](const Task& task) { return task.version == 0; }));
}

TEST_CASE("Traffic counts a message for each place that reads it") {
  // Ring: 2 (N - 1) messages from each of N places, of an N-th of 80 elements.
  const Schedule ring = test::ring(4);
  CHECK(ring.traffic_messages() == 2 * 3 * 4);
  CHECK(ring.traffic_bytes() == 2 * 3 * 80 * 4);
  // Two workers send their gradient, and read the hub's one message.
  const Schedule hub = test::hub(3);
  CHECK(hub.traffic_messages() == 2 + 2);
  CHECK(hub.traffic_bytes() == (2 + 2) * 20 * 4);
  // One cut, 8 bytes a sample, there and back.
  CHECK(test::gpipe(2, 3, false).traffic_bytes() == 2 * 6 * 8);
}

}  // namespace
}  // namespace zygos::schedule::test_schedule
