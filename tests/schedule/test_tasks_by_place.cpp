// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/sample_schedules.hpp"

#include "zygos/schedule/tasks_by_place.hpp"

#include <catch2/catch_test_macros.hpp>

#include <utility>

namespace zygos::schedule::test_tasks_by_place {
namespace {

using Uses = std::vector<std::pair<TaskId, const Buffer*>>;

/// By a look at every task.
std::vector<TaskId> tasks_on(const Schedule& schedule, Place place) {
  std::vector<TaskId> found;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    if (schedule.tasks[id].place == place) {
      found.push_back(static_cast<TaskId>(id));
    }
  }
  return found;
}

Uses uses_on(const Schedule& schedule, Place place) {
  Uses found;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    for (const auto* named : {&schedule.tasks[id].writes, &schedule.tasks[id].reads}) {
      for (const Buffer& buffer : *named) {
        if (buffer.place == place) {
          found.emplace_back(static_cast<TaskId>(id), &buffer);
        }
      }
    }
  }
  return found;
}

TEST_CASE("The index by place lists what a look at every task finds, in the same order") {
  for (const auto& [name, schedule] : test::all_samples()) {
    const TasksByPlace tasks(schedule);
    for (std::size_t index = 0; index < schedule.places.size(); ++index) {
      const auto place = static_cast<Place>(index);
      CAPTURE(name, schedule.places[index]);

      const std::vector<TaskId> own(tasks.of(place).begin(), tasks.of(place).end());
      CHECK(own == tasks_on(schedule, place));
      for (std::size_t position = 0; position < own.size(); ++position) {
        CHECK(tasks.index_of(own[position]) == position);
      }
      Uses uses;
      for (const TasksByPlace::Use& use : tasks.uses_of(place)) {
        uses.emplace_back(use.task, use.buffer);
      }
      CHECK(uses == uses_on(schedule, place));
    }
  }
}

TEST_CASE("A place without a task has empty lists, also the last one") {
  Schedule schedule = test::two_place_split();
  schedule.places.emplace_back("idle");
  const TasksByPlace tasks(schedule);

  CHECK(tasks.of(2).empty());
  CHECK(tasks.uses_of(2).empty());
  CHECK(tasks.of(1).size() == 8);
}

}  // namespace
}  // namespace zygos::schedule::test_tasks_by_place
