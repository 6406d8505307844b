// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a worker's driver thread does in a round: the tasks of its lines, each as soon as it can
// run.
#pragma once

#include "train/messages/message_board.hpp"
#include "train/place/places.hpp"
#include "train/queues/first_runs.hpp"
#include "train/queues/step_recordings.hpp"
#include "train/queues/workers.hpp"

#include "zygos/train/trace.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

namespace zygos::train {

class WorkerLoop {
 public:
  struct Parts {
    Workers& workers;
    Places& places;
    const MessageBoard& board;
    Trace& trace;
    bool times_tasks = true;   ///< see EngineOptions::time_every_task
    bool times_cores = false;  ///< see EngineOptions::time_cores
  };
  /// A task that threw, of each line.
  struct Failure {
    std::exception_ptr cause;
    schedule::TaskId task = 0;
  };

  /// All parts must outlive this.
  explicit WorkerLoop(const Parts& parts);
  WorkerLoop(const WorkerLoop&) = delete;
  WorkerLoop& operator=(const WorkerLoop&) = delete;

  /// Gives all workers, of which there are no more from now on, their jobs.
  void attach();
  /// Between rounds.
  void begin(const StepInputs& inputs);
  /// In the last round: what lanes were given as recorded work.
  std::int64_t launches() const { return launches_.load(); }
  std::int64_t recorded_tasks() const { return recorded_tasks_.load(); }
  /// By line. Between rounds.
  std::span<Failure> failures() { return failures_; }

 private:
  void work(Worker& worker);
  void work_through(Worker& worker);
  /// Returns how many tasks that were.
  std::size_t run_next(Worker& worker, const Choice& choice);
  /// Tells other lines that wait for it.
  void signal(const QueuedTask& queued, const Head& head);
  /// Gives the lane the task, and `waits` for its end, as it does where another line waits for it.
  void run_queued(const QueuedTask& queued, PlaceState& place, bool waits);
  void run_on_stream(Worker& worker, const QueuedTask& queued, PlaceState& place);
  /// `ready_s`: since when it could have run.
  void run_to_its_end(Worker& worker, const QueuedTask& queued, PlaceState& place, Head& head,
                      double ready_s);
  /// Gives the lane a segment that begins at the line's first task, as recorded work. False, with
  /// nothing done, where its tasks are to run one by one.
  bool run_segment(Worker& worker, Head& head, LineSegment& segment);
  void record(Worker& worker, Head& head, const QueueSegment& tasks, RecordedSegment& recorded);
  /// The work that is recorded.
  void run_recorded(Worker& worker, Head& head, const QueueSegment& tasks,
                    RecordedSegment& recorded);
  void launch(Worker& worker, Head& head, const QueueSegment& tasks, RecordedSegment& recorded);
  /// Times of tasks that a device was given at once: those of its stream's marks. Without these the
  /// first task has all that the launch took.
  void note_launched(Worker& worker, const Head& head, const QueueSegment& tasks,
                     const RecordedSegment& recorded, const TaskRecord& launch);

  Parts parts_;
  FirstRuns first_runs_;  ///< of lanes that are no host
  StepRecordings recordings_;
  std::uint64_t step_ = 0;
  std::int64_t samples_ = 0;
  bool trains_ = false;
  bool launches_recorded_ = false;  ///< the round may
  std::atomic<bool> failed_{false};
  std::atomic<std::int64_t> launches_{0};
  std::atomic<std::int64_t> recorded_tasks_{0};
  std::vector<Failure> failures_;
};

}  // namespace zygos::train
