// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "two_places.hpp"

#include "zygos/plan/pass_history.hpp"
#include "zygos/schedule/builder.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>

namespace zygos::test_pass_history {
namespace {

using schedule::TaskKind;

/// Passes of a place in the order of its queue: F, R and B; small ones are again, ' alternating.
std::string passes_of(const schedule::Schedule& schedule, schedule::Place place) {
  const auto histories = plan::pass_histories(schedule);
  std::string text;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    if (task.place == place && is_pass(task.kind)) {
      const char letter = task.kind == TaskKind::forward     ? 'F'
                          : task.kind == TaskKind::recompute ? 'R'
                                                             : 'B';
      text += histories[id] == plan::PassHistory::again ? static_cast<char>(letter + 'a' - 'A')
                                                        : letter;
      text += histories[id] == plan::PassHistory::alternating ? "'" : "";
    } else if (task.place == place) {
      CHECK(histories[id] == plan::PassHistory::first);
      text += task.kind == TaskKind::update ? "U" : "";
    }
  }
  return text;
}

schedule::ScheduleBuilder one_place(std::int32_t micro_batches) {
  schedule::Outline outline = test::two_place_outline(micro_batches, "passes");
  outline.places[1].stage = -1;
  for (std::int32_t i = 0; i < micro_batches; ++i) {
    outline.micro_batches.push_back({i, i + 1});
  }
  return schedule::ScheduleBuilder(std::move(outline));
}

}  // namespace

TEST_CASE("Passes of GPipe are behind others of their kind") {
  const auto schedule = test::pipeline_schedule(6, 3);
  CHECK(passes_of(schedule, 0) == "FffBbbU");
  CHECK(passes_of(schedule, 1) == "FffBbbU");
}

TEST_CASE("Passes alternate with those of another place of their lane") {
  auto schedule = test::pipeline_schedule(6, 3);
  schedule.places.emplace_back("device#2");
  schedule.further_lanes = {1};
  for (schedule::Task& task : schedule.tasks) {
    task.place = task.place == 0 ? 2 : task.place;
  }
  CHECK(passes_of(schedule, 1) == "FffBB'B'U");
  CHECK(passes_of(schedule, 2) == "FffBB'B'U");
}

TEST_CASE("Passes that take turns alternate, and a recomputation is a forward") {
  schedule::ScheduleBuilder builder = one_place(3);
  builder.load(0, 0);
  builder.forward(0, 0);
  builder.loss(0, 0);
  builder.backward(0, 0);
  builder.load(0, 1);
  builder.forward(0, 1, false);
  builder.loss(0, 1);
  builder.recompute(0, 1);
  builder.backward(0, 1);
  builder.load(0, 2);
  builder.forward(0, 2);
  builder.loss(0, 2);
  builder.backward(0, 2);
  builder.update(0);
  CHECK(passes_of(std::move(builder).build(), 0) == "FBF'rB'F'B'U");
}

TEST_CASE("An update between passes is not the begin of a step") {
  schedule::Outline outline = test::two_place_outline(3, "pipedream");
  outline.places[1].stage = -1;
  outline.micro_batches = {{0, 1}, {1, 2}, {2, 3}};
  outline.updates = outline.micro_batches;
  schedule::ScheduleBuilder builder(std::move(outline));
  for (std::int32_t i = 0; i < 3; ++i) {
    builder.load(0, i);
    builder.forward(0, i);
    builder.loss(0, i);
    builder.backward(0, i);
    builder.update(0);
  }
  CHECK(passes_of(std::move(builder).build(), 0) == "FBUF'B'UF'B'U");
}

}  // namespace zygos::test_pass_history
