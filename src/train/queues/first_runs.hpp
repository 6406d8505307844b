// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/task.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace zygos::train {

/// Lets tasks that may launch a kernel for the first time run one at a time. At its first launch
/// Kokkos keeps a CUDA kernel's attributes in a table without a lock (4.7,
/// get_cuda_kernel_func_attributes), and a device has several threads that launch kernels: one for
/// each of its lines.
class FirstRuns {
 public:
  FirstRuns() = default;
  explicit FirstRuns(std::size_t tasks) {
    for (Round& round : rounds_) {
      round.done.resize(tasks);
    }
  }

  /// Between rounds. Rounds that train launch other kernels than those that do not, and other
  /// numbers of samples may do so, too. True if this is the first round of its kind.
  bool begin(bool trains, std::int64_t samples) {
    current_ = trains ? 1 : 0;
    Round& round = rounds_[current_];
    if (std::ranges::find(round.samples, samples) != round.samples.end()) {
      return false;
    }
    round.samples.push_back(samples);
    std::ranges::fill(round.done, std::uint8_t{0});
    return true;
  }

  /// The right to run the task: alone if it is the first time, else with all others. Of the only
  /// thread that runs this task.
  std::unique_lock<std::mutex> enter(schedule::TaskId task) {
    std::uint8_t& done = rounds_[current_].done[static_cast<std::size_t>(task)];
    if (done != 0) {
      return {};
    }
    done = 1;
    return std::unique_lock(mutex_);
  }

 private:
  struct Round {
    std::vector<std::int64_t> samples;  ///< that there have been: those of whole batches and a rest
    std::vector<std::uint8_t> done;     ///< by task
  };

  std::mutex mutex_;
  std::array<Round, 2> rounds_;
  std::size_t current_ = 0;
};

}  // namespace zygos::train
