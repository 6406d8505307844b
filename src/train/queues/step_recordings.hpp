// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Which tasks of a step a lane is given as one piece of recorded work, and what has been recorded.
#pragma once

#include "train/place/places.hpp"
#include "train/queues/task_queues.hpp"

#include "zygos/lane/recording.hpp"
#include "zygos/nn/optimizer.hpp"
#include "zygos/schedule/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace zygos::train {

/// Consecutive tasks of a queue: from `begin` to before `end`.
struct QueueSegment {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool operator==(const QueueSegment&) const = default;
};

/// The longest runs of tasks of a compute line's queue that do nothing but give their lane kernels
/// and copies, which take what differs between steps from its memory. Only the first of each waits
/// for other lines, and only the last has one waiting for it. `updates`: the optimizer reads
/// nn::UpdateArgs::scalars.
std::vector<QueueSegment> recordable_segments(const schedule::Schedule& schedule,
                                              const TaskQueue& queue, bool updates);

/// What was recorded of a segment, for one number of samples in one slot of inputs.
struct RecordedSegment {
  std::int64_t samples = 0;
  std::size_t batch_slot = 0;
  StepInputs inputs{};                      ///< of the step in which it was recorded
  std::unique_ptr<lane::Recording> work{};  ///< null: not yet
  bool refused = false;                     ///< the lane can't record it
  std::vector<std::size_t> marks{};  ///< of a stream's clock: before each task, behind the last
};

/// A segment of a line, of its driver thread.
struct LineSegment {
  QueueSegment tasks;
  std::vector<std::unique_ptr<RecordedSegment>> recorded{};

  /// Null if the tasks have not yet run with this key.
  RecordedSegment* find(std::int64_t samples, std::size_t batch_slot);
};

/// By line of the training queues. Nothing but lookups while a round runs.
class StepRecordings {
 public:
  /// Those of places that record.
  void find(const schedule::Schedule& schedule, const TaskQueues& training, const Places& places);
  /// The segment whose first task is number `next` of the line's queue; null if there is none.
  LineSegment* at(std::size_t line, std::size_t next);
  /// Between rounds: all that was recorded is void, and is recorded again where it comes next.
  void drop();
  /// Between rounds: no task has run.
  void forget();

 private:
  std::vector<std::vector<LineSegment>> lines_;
};

}  // namespace zygos::train
