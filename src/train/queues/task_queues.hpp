// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A line is one queue of one place: what one driver thread works through in a step.
#pragma once

#include "zygos/lane/lane.hpp"
#include "zygos/plan/memory_plan.hpp"
#include "zygos/schedule/schedule.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace zygos::train {

inline std::size_t place_of_line(std::size_t line) { return line / schedule::queue_count; }
inline lane::Line lane_line(std::size_t line) {
  return static_cast<lane::Line>(line % schedule::queue_count);
}

/// A task as its line works through it.
struct QueuedTask {
  schedule::TaskId id = 0;
  std::vector<std::size_t> wait_for;  ///< predecessors on other lines
  bool signals = false;               ///< someone on another line waits for it
};
using TaskQueue = std::vector<QueuedTask>;
using TaskQueues = std::vector<TaskQueue>;

TaskQueues training_queues(const schedule::Schedule& schedule);
/// What brings a batch to places that have it loaded a step ahead, by itself; empty if there are
/// none.
TaskQueues filling_queues(const schedule::Schedule& schedule);
/// Those of an evaluation, with task ids of the whole schedule. Buffers that share memory because
/// of tasks an evaluation leaves out are kept apart by waiting.
TaskQueues evaluation_queues(const schedule::Schedule& schedule,
                             const std::vector<plan::PlaceMemory>& memory);

/// Makes the lines of a rank wait for the messages of others themselves: that somebody else has
/// seen a message arrive does not mean that it is here.
void wait_for_arrivals(const schedule::Schedule& schedule, std::span<const int> owners,
                       TaskQueues& queues);

}  // namespace zygos::train
