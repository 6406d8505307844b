// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/lane/stream_clock.hpp"
#include "zygos/schedule/task.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace zygos::train {

/// Times of a worker's tasks on a lane with a stream: known once the stream has been fenced, so
/// that no task has to be waited for to be timed.
class StreamTimes {
 public:
  StreamTimes() = default;
  explicit StreamTimes(std::unique_ptr<lane::StreamClock> clock) : clock_(std::move(clock)) {}

  /// False on lanes whose tasks have ended when they return, or whose device has no such clock.
  explicit operator bool() const noexcept { return clock_ != nullptr; }

  /// The stream is idle.
  void start(double now_s) {
    timed_.clear();
    clock_->start(now_s);
  }
  std::size_t mark() { return clock_->mark(); }
  std::size_t recorded_mark() { return clock_->recorded_mark(); }
  /// `begin`: mark() before the task was given to the stream. Its end is here.
  void note(std::size_t line, schedule::TaskId task, std::size_t begin, double core_s) {
    note(line, task, begin, clock_->mark(), core_s);
  }
  /// With a mark for its end, too, as recorded work has it.
  void note(std::size_t line, schedule::TaskId task, std::size_t begin, std::size_t end,
            double core_s) {
    timed_.push_back({line, task, begin, end, core_s});
  }
  /// The stream has been fenced: record(line, task, start_s, end_s, core_s) for each task.
  template <class Record>
  void settle(Record&& record) {
    for (const Timed& one : timed_) {
      record(one.line, one.task, clock_->seconds_at(one.begin), clock_->seconds_at(one.end),
             one.core_s);
    }
    timed_.clear();
  }

 private:
  struct Timed {
    std::size_t line;
    schedule::TaskId task;
    std::size_t begin;
    std::size_t end;
    double core_s;
  };

  std::unique_ptr<lane::StreamClock> clock_;
  std::vector<Timed> timed_;  ///< grows in the first step
};

}  // namespace zygos::train
