// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/queues/task_queues.hpp"

#include <algorithm>
#include <map>

namespace zygos::train {
namespace {

using schedule::Schedule;
using schedule::Task;
using schedule::TaskId;

/// `after` by task, in ids of the schedule.
using Order = std::vector<std::vector<TaskId>>;

TaskQueues queues_of(const Schedule& schedule, const std::vector<TaskId>& tasks,
                     const Order& after) {
  TaskQueues queues(schedule.places.size() * schedule::queue_count);
  std::vector<bool> signals(schedule.tasks.size(), false);
  const auto line = [&](TaskId id) {
    return line_of(schedule.tasks[static_cast<std::size_t>(id)]);
  };
  for (const TaskId id : tasks) {
    QueuedTask queued{id, {}, false};
    for (const TaskId before : after[static_cast<std::size_t>(id)]) {
      if (line(before) != line(id)) {
        queued.wait_for.push_back(static_cast<std::size_t>(before));
        signals[static_cast<std::size_t>(before)] = true;
      }
    }
    queues[line(id)].push_back(std::move(queued));
  }
  for (TaskQueue& queue : queues) {
    for (QueuedTask& task : queue) {
      task.signals = signals[static_cast<std::size_t>(task.id)];
    }
  }
  return queues;
}

bool overlap(const plan::PlannedBuffer& one, const plan::PlannedBuffer& other) {
  const bool of_step =
      one.lifetime == schedule::Lifetime::step && other.lifetime == schedule::Lifetime::step;
  return of_step && one.bytes > 0 && other.bytes > 0 && one.tier == other.tier &&
         one.piece == other.piece && one.offset < other.offset + other.bytes &&
         other.offset < one.offset + one.bytes;
}

bool uses(const Task& task, const schedule::Buffer& buffer) {
  return std::ranges::find(task.reads, buffer) != task.reads.end() ||
         std::ranges::find(task.writes, buffer) != task.writes.end();
}

/// Lets whoever first writes a buffer wait for all earlier uses of buffers in the same memory.
void keep_apart(const Schedule& schedule, const std::vector<TaskId>& tasks,
                const plan::PlaceMemory& memory, Order& after) {
  for (const auto& [later, planned] : memory.buffers) {
    for (const auto& [earlier, other] : memory.buffers) {
      if (other.first >= planned.first || !overlap(planned, other)) {
        continue;
      }
      for (const TaskId id : tasks) {
        if (id < planned.first && uses(schedule.tasks[static_cast<std::size_t>(id)], earlier)) {
          after[static_cast<std::size_t>(planned.first)].push_back(id);
        }
      }
    }
  }
}

}  // namespace

void wait_for_arrivals(const Schedule& schedule, std::span<const int> owners, TaskQueues& queues) {
  std::map<schedule::Buffer, std::size_t> senders;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    for (const schedule::Buffer& buffer : schedule.tasks[id].writes) {
      if (buffer.kind == schedule::BufferKind::message) {
        senders[buffer] = id;
      }
    }
  }
  const auto owner = [&](schedule::Place place) { return owners[static_cast<std::size_t>(place)]; };
  for (TaskQueue& queue : queues) {
    for (QueuedTask& queued : queue) {
      const Task& task = schedule.tasks[static_cast<std::size_t>(queued.id)];
      // Whoever sends must say when there is something to send.
      queued.signals |= schedule::writes_messages(task.kind);
      for (const schedule::Buffer& buffer : task.reads) {
        if (buffer.kind == schedule::BufferKind::message &&
            owner(buffer.place) != owner(task.place)) {
          queued.wait_for.push_back(senders.at(buffer));
        }
      }
    }
  }
}

TaskQueues training_queues(const Schedule& schedule) {
  std::vector<TaskId> tasks;
  Order after;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    tasks.push_back(static_cast<TaskId>(id));
    after.push_back(schedule.tasks[id].after);
  }
  return queues_of(schedule, tasks, after);
}

TaskQueues filling_queues(const Schedule& schedule) {
  std::vector<TaskId> tasks;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    if (is_for_next_step(schedule, schedule.tasks[id])) {
      tasks.push_back(static_cast<TaskId>(id));
    }
  }
  // Load and copy of a place are on one queue: nothing waits for another line.
  return queues_of(schedule, tasks, Order(schedule.tasks.size()));
}

TaskQueues evaluation_queues(const Schedule& schedule,
                             const std::vector<plan::PlaceMemory>& memory) {
  const Schedule kept = schedule.for_evaluation();
  std::vector<TaskId> tasks;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    if (evaluates(schedule, schedule.tasks[id])) {
      tasks.push_back(static_cast<TaskId>(id));
    }
  }
  Order after(schedule.tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (const TaskId before : kept.tasks[i].after) {
      after[static_cast<std::size_t>(tasks[i])].push_back(tasks[static_cast<std::size_t>(before)]);
    }
  }
  // An evaluation's batch is known when it begins, and none is behind it: see filling_queues().
  std::erase_if(tasks, [&](TaskId id) {
    return is_for_next_step(schedule, schedule.tasks[static_cast<std::size_t>(id)]);
  });
  for (const plan::PlaceMemory& place : memory) {
    keep_apart(schedule, tasks, place, after);
  }
  return queues_of(schedule, tasks, after);
}

}  // namespace zygos::train
