// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/schedule/tasks_by_place.hpp"

namespace zygos::schedule {

/// `visit(f)` calls f(place, task) for all entries, tasks ascending, and always the same.
template <class Visit>
TasksByPlace::Lists TasksByPlace::lists_of(std::size_t places, Visit visit) {
  Lists lists;
  lists.first.resize(places + 2, 0);
  visit([&](Place place, TaskId) { ++lists.first[static_cast<std::size_t>(place) + 2]; });
  for (std::size_t place = 2; place < lists.first.size(); ++place) {
    lists.first[place] += lists.first[place - 1];
  }
  lists.tasks.resize(lists.first.back());
  // Each begin moves to its end, which is where the next one's list begins.
  visit([&](Place place, TaskId id) {
    lists.tasks[lists.first[static_cast<std::size_t>(place) + 1]++] = id;
  });
  lists.first.pop_back();
  return lists;
}

TasksByPlace::TasksByPlace(const Schedule& schedule) : schedule_(&schedule) {
  const std::size_t places = schedule.places.size();
  const auto count = static_cast<TaskId>(schedule.tasks.size());
  own_ = lists_of(places, [&](auto&& add) {
    for (TaskId id = 0; id < count; ++id) {
      add(task(id).place, id);
    }
  });
  users_ = lists_of(places, [&](auto&& add) {
    std::vector<TaskId> last(places, -1);  // that is in the place's list
    for (TaskId id = 0; id < count; ++id) {
      for (const auto* named : {&task(id).reads, &task(id).writes}) {
        for (const Buffer& buffer : *named) {
          TaskId& latest = last[static_cast<std::size_t>(buffer.place)];
          if (latest != id) {
            add(buffer.place, id);
            latest = id;
          }
        }
      }
    }
  });
  index_.resize(schedule.tasks.size());
  for (Place place = 0; place < static_cast<Place>(places); ++place) {
    std::uint32_t index = 0;
    for (const TaskId id : of(place)) {
      index_[static_cast<std::size_t>(id)] = index++;
    }
  }
}

}  // namespace zygos::schedule
