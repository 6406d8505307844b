// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a worker's driver thread does in a round: the tasks of its lines, each as soon as it can
// run.
#pragma once

#include "train/messages/message_board.hpp"
#include "train/place/places.hpp"
#include "train/queues/first_runs.hpp"
#include "train/queues/workers.hpp"

#include "zygos/train/trace.hpp"

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
  void begin(std::uint64_t step, bool trains, std::int64_t samples);
  /// By line. Between rounds.
  std::span<Failure> failures() { return failures_; }

 private:
  void work(Worker& worker);
  void work_through(Worker& worker);
  void run_next(Worker& worker, const Choice& choice);
  /// Gives the lane the task, and `waits` for its end, as it does where another line waits for it.
  void run_queued(const QueuedTask& queued, PlaceState& place, bool waits);
  void run_on_stream(Worker& worker, const QueuedTask& queued, PlaceState& place);
  void run_to_its_end(Worker& worker, const QueuedTask& queued, PlaceState& place,
                      const Choice& choice);

  Parts parts_;
  FirstRuns first_runs_;  ///< of lanes that are no host
  std::uint64_t step_ = 0;
  std::vector<Failure> failures_;
};

}  // namespace zygos::train
