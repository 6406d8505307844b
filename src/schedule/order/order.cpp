// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/order/order.hpp"

#include "schedule/builder/buffer_uses.hpp"
#include "schedule/order/clocks.hpp"

#include <algorithm>
#include <functional>

namespace zygos::schedule {
namespace {

/// Who has touched a buffer. Whoever came before the last writer is ordered before it already.
struct Uses {
  TaskId writer = nobody;
  std::vector<TaskId> readers;  ///< since then
};

/// Tasks that one must wait for, latest first: what a later task has waited for need not be waited
/// for again.
void find_conflicts(const BufferUses& buffers, const std::vector<Uses>& uses, std::size_t task,
                    std::vector<TaskId>& found) {
  found.clear();
  const auto after_writer = [&](const Uses& use) {
    if (use.writer != nobody) {
      found.push_back(use.writer);
    }
  };
  for (const std::uint32_t buffer : buffers.reads(task)) {
    after_writer(uses[buffer]);
  }
  for (const std::uint32_t buffer : buffers.writes(task)) {
    after_writer(uses[buffer]);
    found.insert(found.end(), uses[buffer].readers.begin(), uses[buffer].readers.end());
  }
  std::ranges::sort(found, std::greater<>{});
}

void note(const BufferUses& buffers, std::size_t task, std::vector<Uses>& uses) {
  for (const std::uint32_t buffer : buffers.reads(task)) {
    uses[buffer].readers.push_back(static_cast<TaskId>(task));
  }
  for (const std::uint32_t buffer : buffers.writes(task)) {
    uses[buffer].writer = static_cast<TaskId>(task);
    uses[buffer].readers.clear();
  }
}

}  // namespace

void derive_order(Schedule& schedule) {
  const BufferUses buffers(schedule.tasks);
  Clocks clocks(schedule.tasks, schedule.places.size());
  std::vector<TaskId> last(schedule.places.size() * queue_count, nobody);
  std::vector<Uses> uses(buffers.count());
  std::vector<TaskId> conflicts;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    Task& task = schedule.tasks[id];
    task.after.clear();
    TaskId& previous = last[line_of(task)];
    if (previous != nobody) {
      clocks.join(id, static_cast<std::size_t>(previous));
    }
    find_conflicts(buffers, uses, id, conflicts);
    if (task.not_before != nobody) {
      conflicts.push_back(task.not_before);
      std::ranges::sort(conflicts, std::greater<>{});
    }
    for (const TaskId earlier : conflicts) {
      if (!clocks.ended_before(static_cast<std::size_t>(earlier), id)) {
        task.after.push_back(earlier);
        clocks.join(id, static_cast<std::size_t>(earlier));
      }
    }
    std::ranges::sort(task.after);
    previous = static_cast<TaskId>(id);
    note(buffers, id, uses);
  }
}

}  // namespace zygos::schedule
