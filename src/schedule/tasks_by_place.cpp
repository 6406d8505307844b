// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/schedule/tasks_by_place.hpp"

namespace zygos::schedule {

/// `visit(f)` calls f(place, entry) for all entries, in the order of the lists, and always the
/// same.
template <class Entry, class Visit>
TasksByPlace::Lists<Entry> TasksByPlace::lists_of(std::size_t places, Visit visit) {
  Lists<Entry> lists;
  lists.first.resize(places + 2, 0);
  visit([&](Place place, const Entry&) { ++lists.first[static_cast<std::size_t>(place) + 2]; });
  for (std::size_t place = 2; place < lists.first.size(); ++place) {
    lists.first[place] += lists.first[place - 1];
  }
  lists.entries.resize(lists.first.back());
  // Each begin moves to its end, which is where the next one's list begins.
  visit([&](Place place, const Entry& entry) {
    lists.entries[lists.first[static_cast<std::size_t>(place) + 1]++] = entry;
  });
  lists.first.pop_back();
  return lists;
}

TasksByPlace::TasksByPlace(const Schedule& schedule) : schedule_(&schedule) {
  const std::size_t places = schedule.places.size();
  const auto count = static_cast<TaskId>(schedule.tasks.size());
  own_ = lists_of<TaskId>(places, [&](auto&& add) {
    for (TaskId id = 0; id < count; ++id) {
      add(task(id).place, id);
    }
  });
  uses_ = lists_of<Use>(places, [&](auto&& add) {
    for (TaskId id = 0; id < count; ++id) {
      for (const auto* named : {&task(id).writes, &task(id).reads}) {
        for (const Buffer& buffer : *named) {
          add(buffer.place, Use{id, &buffer});
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
