// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/plan/memory_time.hpp"
#include "zygos/plan/simulator.hpp"
#include "zygos/schedule/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace zygos::train {

/// One executed task. Times are seconds since the trace's origin.
struct TaskRecord {
  std::uint64_t step = 0;  ///< 0: of an evaluation
  schedule::TaskId task = 0;
  double start_s = 0.0;
  double end_s = 0.0;
  double core_s = 0.0;  ///< of the thread that ran it; see EngineOptions::time_cores
};

/// Records of executed tasks, one preallocated list per line (place * queue_count + queue) so that
/// recording neither locks nor allocates. The newest `capacity` records of a line are kept.
class Trace {
 public:
  Trace(std::size_t lines, std::size_t capacity);

  /// Called by the line's own driver thread only.
  void record(std::size_t line, const TaskRecord& record) noexcept;
  /// Records of a line, oldest first; only between steps.
  std::vector<TaskRecord> of(std::size_t line) const;
  void clear() noexcept;

 private:
  struct Ring {
    std::vector<TaskRecord> records;
    std::size_t next = 0;
    bool full = false;
  };
  std::vector<Ring> rings_;
};

/// Times by TaskId of the newest step that the trace has whole; empty if there is none.
std::vector<plan::TaskTime> newest_step(const Trace& trace, const schedule::Schedule& schedule);

/// Bytes over time, on the clock of TaskRecord and on that of a simulation.
struct TraceMemory {
  std::vector<plan::MemorySample> measured;
  std::vector<plan::MemorySample> predicted;
};

/// Writes the trace-event JSON that chrome://tracing and Perfetto open, times in microseconds: a
/// track per place and queue (its number is four times the place, plus the queue), an event per
/// task with its step, samples, order and buffers as arguments, and a counter "memory <place>" per
/// place of `memory` ("memory <place>/staging" of its host memory). If `predicted` is given, a
/// second group of tracks and counters draws one predicted step beside the first measured one. The
/// document's key "zygos" holds version, places, policy, batch.
void write_trace(std::ostream& out, const Trace& trace, const schedule::Schedule& schedule,
                 const plan::Simulation* predicted, const TraceMemory& memory = {});

}  // namespace zygos::train
