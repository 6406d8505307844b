// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/plan/simulator.hpp"
#include "zygos/schedule/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace zygos::train {

/// One executed task. Times are seconds since the trace's origin.
struct TaskRecord {
  std::uint64_t step = 0;
  schedule::TaskId task = 0;
  double start_s = 0.0;
  double end_s = 0.0;
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

/// Writes the trace-event JSON that chrome://tracing and Perfetto open: one track per place, one
/// event per task (microseconds), with step, samples and order as arguments; if `predicted` is
/// given, a second group of tracks draws one predicted step beside the first measured one.
void write_trace(std::ostream& out, const Trace& trace, const schedule::Schedule& schedule,
                 const plan::Simulation* predicted);

}  // namespace zygos::train
