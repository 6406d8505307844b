// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/train/engine.hpp"

#include <vector>

namespace zygos::train {

/// A short run of real training steps.
struct MeasuredPoint {
  std::vector<double> task_s;         ///< median by TaskId
  std::vector<double> accompanied_s;  ///< the same over those runs of the task during which nearly
                                      ///< all the time all other places computed; 0: there was none
  std::vector<double> step_s;         ///< every step, in order
  double overhead_s = 0.0;            ///< median of a step, outside its tasks
  double gap_s = 0.0;                 ///< median between consecutive tasks of a place's kernels
  double handover_s = 0.0;            ///< median from the end of a task on one line to the start of
                                      ///< one on another that waited for nothing else; 0: none did
};

/// Runs steps for about `seconds`, at least 3 and at most 300 of them, after two to warm up.
MeasuredPoint measure_steps(Engine& engine, const Batch& batch, double seconds);

}  // namespace zygos::train
