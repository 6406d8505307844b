// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/picture/schedule_picture.hpp"
#include "app/picture/task_look.hpp"
#include "app/picture/unit_times.hpp"
#include "policies/golden.hpp"

#include "zygos/nn/layers.hpp"
#include "zygos/nn/losses.hpp"
#include "zygos/plan/stage_tensors.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <map>

namespace zygos::app::test_schedule_picture {
namespace {

using Catch::Matchers::ContainsSubstring;
using schedule::TaskKind;

schedule::Schedule gpipe_of(std::size_t lanes, std::int64_t micro_batches) {
  return policies::gpipe({.micro_batches = micro_batches, .recompute = {}, .stages = {}})
      ->schedule(test::lanes_problem(lanes, 12, test::chain_of(4)), nullptr);
}

/// A block on two lanes: on the first one also what lies behind it, so it has several places.
schedule::Schedule tensor_parallel_schedule() {
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  graph.add("fc1", nn::dense({.units = 32}));
  graph.add("fc2", nn::dense({.units = 12}));
  graph.add("out", nn::dense({.units = 3}));
  return policies::tensor_parallel({})->schedule(
      test::lanes_problem(2, 12, plan::outline_of(graph, DType::f32, {})), nullptr);
}

double seconds_of(const schedule::Schedule& schedule, const plan::Simulation& times,
                  TaskKind kind) {
  double taken = 0.0;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    if (schedule.tasks[id].kind == kind) {
      taken = std::max(taken, times.tasks[id].end_s - times.tasks[id].start_s);
    }
  }
  return taken;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

std::string picture_of(const schedule::Schedule& schedule) {
  return schedule_picture(schedule, unit_times(schedule), TimeUnit::forward_pass);
}

}  // namespace

TEST_CASE("a forward pass of a stage takes one unit, its backward two, its update a half") {
  const schedule::Schedule schedule = gpipe_of(2, 3);
  const plan::Simulation times = unit_times(schedule);

  CHECK(seconds_of(schedule, times, TaskKind::forward) == 1.0);
  CHECK(seconds_of(schedule, times, TaskKind::backward) == 2.0);
  CHECK(seconds_of(schedule, times, TaskKind::update) == 0.5);
  CHECK(seconds_of(schedule, times, TaskKind::send) == 0.125);
}

TEST_CASE("places of a lane take turns in unit times") {
  const schedule::Schedule schedule = tensor_parallel_schedule();
  const plan::Simulation times = unit_times(schedule);
  REQUIRE_FALSE(schedule.further_lanes.empty());

  std::map<std::pair<std::size_t, schedule::Queue>, std::vector<plan::TaskTime>> rows;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    rows[{schedule.lane_of(task.place), task.queue}].push_back(times.tasks[id]);
    for (const schedule::TaskId before : task.after) {
      CHECK(times.tasks[static_cast<std::size_t>(before)].end_s <= times.tasks[id].start_s);
    }
  }
  for (auto& [row, tasks] : rows) {
    std::ranges::sort(tasks, {}, &plan::TaskTime::start_s);
    for (std::size_t i = 1; i < tasks.size(); ++i) {
      CHECK(tasks[i - 1].end_s <= tasks[i].start_s);
    }
  }
}

TEST_CASE("a picture has a box for every task and an arrow for every message between lanes") {
  const schedule::Schedule schedule = gpipe_of(3, 2);
  const std::string picture = picture_of(schedule);

  // Two cuts, two micro-batches, there and back.
  CHECK(arrows_of(schedule).size() == 8);
  CHECK(count_of(picture, "marker-end") == 8);
  CHECK(count_of(picture, "<g><title>") == schedule.tasks.size());
  CHECK_THAT(picture, ContainsSubstring("gpipe: one step of 12 samples in 2 micro-batches"));
  CHECK_THAT(picture, ContainsSubstring(">F1</text>") && ContainsSubstring(">B0</text>"));
  CHECK_THAT(picture, ContainsSubstring(">F: forward</text>"));
  CHECK_THAT(picture, ContainsSubstring("prefers-color-scheme:dark"));
  CHECK(picture == picture_of(gpipe_of(3, 2)));
}

TEST_CASE("messages between places of one lane have no arrow") {
  const schedule::Schedule schedule = tensor_parallel_schedule();

  for (const Arrow& arrow : arrows_of(schedule)) {
    const auto lane = [&](schedule::TaskId id) {
      return schedule.lane_of(schedule.tasks[static_cast<std::size_t>(id)].place);
    };
    CHECK(lane(arrow.from) != lane(arrow.to));
  }
  CHECK_FALSE(arrows_of(schedule).empty());
}

TEST_CASE("boxes have numbers only where a lane has several micro-batches") {
  const auto replicas =
      policies::data_parallel({})->schedule(test::lanes_problem(2, 12, test::chain_of(4)), nullptr);

  CHECK(numbers_micro_batches(gpipe_of(2, 3)));
  CHECK_FALSE(numbers_micro_batches(replicas));
  CHECK_THAT(picture_of(replicas), ContainsSubstring(">forward</text>"));
}

TEST_CASE("names of lanes can't break a picture") {
  schedule::Schedule schedule = gpipe_of(2, 2);
  schedule.places[0] = "<a&b>";
  const std::string picture = picture_of(schedule);

  CHECK_THAT(picture, ContainsSubstring("&lt;a&amp;b&gt;"));
  CHECK(picture.find("<a&b>") == std::string::npos);
}

}  // namespace zygos::app::test_schedule_picture
