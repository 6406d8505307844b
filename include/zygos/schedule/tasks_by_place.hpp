// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace zygos::schedule {

/// An index of a schedule's tasks by place, so that who works for every place does not look at all
/// tasks for each: whoever has several places to visit builds it once. The schedule must outlive
/// it, and its tasks stay as they are. Built in time and memory proportional to tasks and operands.
class TasksByPlace {
 public:
  explicit TasksByPlace(const Schedule& schedule);

  const Schedule& schedule() const noexcept { return *schedule_; }
  const Task& task(TaskId id) const { return schedule_->tasks[static_cast<std::size_t>(id)]; }
  /// Tasks of the place, ascending.
  std::span<const TaskId> of(Place place) const { return own_.of(place); }
  /// Tasks that name a buffer of the place, ascending: others' tasks among them.
  std::span<const TaskId> users_of(Place place) const { return users_.of(place); }
  /// Which of its place's tasks a task is.
  std::size_t index_of(TaskId id) const { return index_[static_cast<std::size_t>(id)]; }

 private:
  /// Lists of all places, one behind the other.
  struct Lists {
    std::vector<std::size_t> first;
    std::vector<TaskId> tasks;
    std::span<const TaskId> of(Place place) const {
      const auto index = static_cast<std::size_t>(place);
      return {tasks.data() + first[index], tasks.data() + first[index + 1]};
    }
  };
  template <class Visit>
  static Lists lists_of(std::size_t places, Visit visit);

  const Schedule* schedule_;
  Lists own_;
  Lists users_;
  std::vector<std::uint32_t> index_;
};

}  // namespace zygos::schedule
