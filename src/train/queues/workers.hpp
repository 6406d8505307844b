// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the driver threads of lanes have to do in a round, and when.
#pragma once

#include "train/queues/stream_times.hpp"
#include "train/queues/task_queues.hpp"
#include "train/queues/task_signals.hpp"

#include "zygos/lane/lane_set.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace zygos::train {

/// The first task of a line that has not run.
struct Head {
  std::size_t line = 0;
  std::size_t next = 0;
  double free_s = 0.0;  ///< end of the one before
};

/// What one driver thread works through: a line of each place on its lane, or all lines of these on
/// a lane with one thread for all.
struct Worker {
  std::size_t number = 0;
  std::size_t lane = 0;
  lane::Line driver = lane::Line::compute;
  std::vector<Head> heads;  ///< in the order in which it looks for something to do
  std::size_t line = 0;     ///< of the task that it is at
  StreamTimes times{};      ///< where its lane has a stream
  std::function<void()> job{};
};

/// The workers of this process and all that they share.
struct Workers {
  /// `cores`: that the threads of lanes share.
  Workers(lane::LaneSet& lanes, const schedule::Schedule& schedule, int cores);

  bool one_driver(std::size_t lane) const { return lanes.one_driver(lane, cores); }
  /// Seconds on the engine's clock.
  double now() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - origin).count();
  }
  const TaskQueue& queue_of(std::size_t line) const { return (*queues)[line]; }

  lane::LaneSet& lanes;
  const schedule::Schedule& schedule;
  int cores = 0;
  bool own_cores = false;                    ///< see lane::LaneSet::cores_of_their_own
  std::chrono::microseconds spin_timeout{};  ///< see lane::LaneSet::spin_timeout
  std::chrono::steady_clock::time_point origin = std::chrono::steady_clock::now();
  TaskQueues training{};    ///< by line
  TaskQueues evaluation{};  ///< by line
  TaskQueues filling{};     ///< by line: what brings a batch that no step before has brought
  std::vector<Worker> all{};
  TaskSignals signals;

  // The round
  const TaskQueues* queues = nullptr;  ///< that are worked through
  std::uint32_t round = 0;
  double begin_s = 0.0;  ///< of the round: nothing sets out before
  std::atomic<bool> abort{false};
  std::atomic<bool> handed_out{false};  ///< to all workers
};

/// Once the queues are known. Opens the lines of the lanes that are here.
void make_workers(Workers& workers);
/// Of what `queues`, one of the workers' own, have to do.
void begin_round(Workers& workers, const TaskQueues& queues);
/// Hands every worker its job; returns when all have it.
void hand_out(Workers& workers);
/// Every worker returns before its next task.
void stop_round(Workers& workers);

struct Choice {
  Head* head = nullptr;                                        ///< null: there is nothing to do
  double begin_s = 0.0;                                        ///< since when there was
  double soonest_s = std::numeric_limits<double>::infinity();  ///< from when there will be
};

/// What the worker does next, or how long there is nothing to do.
Choice choose(const Workers& workers, Worker& worker);
/// Until there may be something: `seen` is the count of news from before it was looked for.
void wait_for_work(const Workers& workers, const Worker& worker, const Choice& choice,
                   std::uint32_t seen);

}  // namespace zygos::train
