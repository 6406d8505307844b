// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/order.hpp"

#include "schedule/clocks.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

namespace zygos::schedule {
namespace {

/// Who has touched a buffer. Whoever came before the last writer is ordered before it already.
struct Uses {
  std::optional<std::size_t> writer;
  std::vector<std::size_t> readers;  ///< since then
};

std::vector<std::size_t> conflicts_of(const Task& task, const std::map<Buffer, Uses>& uses) {
  std::vector<std::size_t> found;
  const auto look = [&](const Buffer& buffer, bool writes) {
    const auto use = uses.find(buffer);
    if (use == uses.end()) {
      return;
    }
    if (use->second.writer) {
      found.push_back(*use->second.writer);
    }
    if (writes) {
      found.insert(found.end(), use->second.readers.begin(), use->second.readers.end());
    }
  };
  for (const Buffer& buffer : task.reads) {
    look(buffer, false);
  }
  for (const Buffer& buffer : task.writes) {
    look(buffer, true);
  }
  // Latest first: what a later task has waited for need not be waited for again.
  std::ranges::sort(found, std::greater<>{});
  return found;
}

void note(std::size_t id, const Task& task, std::map<Buffer, Uses>& uses) {
  for (const Buffer& buffer : task.reads) {
    uses[buffer].readers.push_back(id);
  }
  for (const Buffer& buffer : task.writes) {
    uses[buffer] = {id, {}};
  }
}

}  // namespace

void derive_order(Schedule& schedule) {
  Clocks clocks(schedule.tasks.size(), schedule.places.size());
  std::vector<std::optional<std::size_t>> last(schedule.places.size() * queue_count);
  std::map<Buffer, Uses> uses;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    Task& task = schedule.tasks[id];
    task.after.clear();
    auto& previous = last[line_of(task)];
    if (previous) {
      clocks.join(id, *previous);
    }
    for (const std::size_t earlier : conflicts_of(task, uses)) {
      if (!clocks.ended_before(earlier, id)) {
        task.after.push_back(static_cast<TaskId>(earlier));
        clocks.join(id, earlier);
      }
    }
    std::ranges::sort(task.after);
    clocks.close(id, line_of(task));
    previous = id;
    note(id, task, uses);
  }
}

}  // namespace zygos::schedule
