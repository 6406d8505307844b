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
  /// A buffer that a task writes or reads.
  struct Use {
    TaskId task = 0;
    const Buffer* buffer = nullptr;
  };
  /// Every use of the place's buffers, tasks ascending, others' tasks among them; of a task, what
  /// it writes first.
  std::span<const Use> uses_of(Place place) const { return uses_.of(place); }
  /// Which of its place's tasks a task is.
  std::size_t index_of(TaskId id) const { return index_[static_cast<std::size_t>(id)]; }

 private:
  /// Lists of all places, one behind the other.
  template <class Entry>
  struct Lists {
    std::vector<std::size_t> first;
    std::vector<Entry> entries;
    std::span<const Entry> of(Place place) const {
      const auto index = static_cast<std::size_t>(place);
      return {entries.data() + first[index], entries.data() + first[index + 1]};
    }
  };
  template <class Entry, class Visit>
  static Lists<Entry> lists_of(std::size_t places, Visit visit);

  const Schedule* schedule_;
  Lists<TaskId> own_;
  Lists<Use> uses_;
  std::vector<std::uint32_t> index_;
};

}  // namespace zygos::schedule
