// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/train/engine.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace zygos::measure {

/// A short run of real training steps.
struct MeasuredPoint {
  std::vector<double> task_s;         ///< median by TaskId
  std::vector<double> accompanied_s;  ///< the same over those runs of the task during which nearly
                                      ///< all the time all other places computed; 0: there was none
  std::vector<double> core_s;         ///< median by TaskId: its thread's time on a core
  std::vector<double> step_s;         ///< every step, in order
  double overhead_s = 0.0;            ///< median of a step, outside its tasks
  /// The same of the steps that one place ended alone, and of those that several did: see
  /// plan::Profile; below 0: there were none.
  double single_overhead_s = -1.0;
  double joint_overhead_s = -1.0;
  double gap_s = 0.0;  ///< median between consecutive tasks of a place's kernels
  /// Mean from the end of a task on one line to the start of one on another that waited for nothing
  /// else: see plan::Profile; 0: there was none.
  double handover_s = 0.0;
  double wake_s = 0.0;
  double message_handover_s = 0.0;
};

/// The batch of the next step, valid until the next call.
using NextBatch = std::function<train::Batch()>;

/// What a point is to be worth where steps are long.
enum class LongSteps : std::uint8_t {
  several,  ///< at least 3 of them, after two to warm up
  one,      ///< at least 1 after another one, if that took all of the point's time: of a point in
            ///< rounds
};

/// Runs steps for about `seconds`, at most 300 of them.
MeasuredPoint measure_steps(train::Engine& engine, const NextBatch& next, double seconds,
                            LongSteps long_steps = LongSteps::several);

}  // namespace zygos::measure
