// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/two_places.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/simulator.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

namespace zygos::plan {
namespace {

using Catch::Matchers::WithinRel;
using schedule::Schedule;
using schedule::Task;
using schedule::TaskId;
using schedule::TaskKind;

/// Tasks whose seconds are the samples they work on.
Schedule timed(std::vector<std::string> places,
               std::vector<std::tuple<schedule::Place, std::int64_t, std::vector<TaskId>>> tasks) {
  Schedule out{"timed", std::move(places), 0, {}};
  for (auto& [place, seconds, after] : tasks) {
    Task task;
    task.place = place;
    task.samples = {0, seconds};
    task.after = std::move(after);
    out.tasks.push_back(std::move(task));
  }
  return out;
}

Simulation simulate_timed(const Schedule& schedule) {
  return simulate(schedule, [](const Task& task) { return double(task.samples.count()); });
}

TEST_CASE("Tasks of one place run one after the other without idle time") {
  const auto simulation = simulate_timed(timed({"a"}, {{0, 2, {}}, {0, 3, {}}, {0, 4, {}}}));

  CHECK(simulation.tasks[1].start_s == 2.0);
  CHECK(simulation.tasks[2].start_s == 5.0);
  CHECK(simulation.makespan_s == 9.0);
  CHECK(simulation.busy_s[0] == 9.0);
  CHECK(simulation.idle_s[0] == 0.0);
}

TEST_CASE("A place waits for another, and its wait is idle time") {
  // a: 2 s, then 1 s once b is done with 5 s;  b: 5 s, then 3 s once a's first is done.
  const auto simulation =
      simulate_timed(timed({"a", "b"}, {{0, 2, {}}, {1, 5, {}}, {0, 1, {1}}, {1, 3, {0}}}));

  CHECK(simulation.tasks[2].start_s == 5.0);
  CHECK(simulation.tasks[3].start_s == 5.0);
  CHECK(simulation.makespan_s == 8.0);
  CHECK(simulation.busy_s == std::vector<double>{3.0, 8.0});
  CHECK(simulation.idle_s == std::vector<double>{5.0, 0.0});
}

TEST_CASE("A wait for a task later in the list is honoured") {
  const auto simulation = simulate_timed(timed({"a", "b"}, {{0, 1, {1}}, {1, 4, {}}}));

  CHECK(simulation.tasks[0].start_s == 4.0);
  CHECK(simulation.makespan_s == 5.0);
}

TEST_CASE("A place without tasks has no idle time") {
  const auto simulation = simulate_timed(timed({"a", "b"}, {{0, 2, {}}}));

  CHECK(simulation.idle_s == std::vector<double>{0.0, 0.0});
}

TEST_CASE("A cycle is refused, never waited for") {
  CHECK_THROWS_AS(simulate_timed(timed({"a", "b"}, {{0, 1, {1}}, {1, 1, {0}}})), InternalError);
}

TEST_CASE("A split takes as long as its slower half and the exchange") {
  // Host: 20 samples of 4 s; device: 80 samples of 1 s; both sends and sums take 3 s.
  const Profile profile = test::linear_profile(4.0, 1.0, 3.0);

  const auto simulation = simulate(test::split_schedule(100, 20), profile);

  CHECK_THAT(simulation.makespan_s, WithinRel(86.0));
}

TEST_CASE("Costs of places that work together are used only when both do") {
  Profile profile = test::linear_profile(4.0, 1.0);
  for (PlaceProfile& place : profile.places) {
    place.together[TaskKind::forward] = test::line(10.0);
    place.together[TaskKind::backward] = test::constant(0.0);
  }
  profile.step_overhead_s = 0.5;

  CHECK_THAT(simulate(test::split_schedule(100, 100), profile).makespan_s, WithinRel(400.5));
  CHECK_THAT(simulate(test::split_schedule(100, 50), profile).makespan_s, WithinRel(500.5));
}

TEST_CASE("A hundred thousand tasks on two places are simulated exactly") {
  std::vector<std::tuple<schedule::Place, std::int64_t, std::vector<TaskId>>> tasks;
  for (TaskId id = 0; id < 100000; ++id) {
    tasks.push_back({id % 2, 1, id > 0 ? std::vector<TaskId>{id - 1} : std::vector<TaskId>{}});
  }

  const auto simulation = simulate_timed(timed({"a", "b"}, std::move(tasks)));

  CHECK(simulation.makespan_s == 100000.0);
  CHECK(simulation.idle_s == std::vector<double>{50000.0, 50000.0});
}

}  // namespace
}  // namespace zygos::plan
