// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/plan/profile.hpp"
#include "zygos/train/engine.hpp"

#include <map>
#include <vector>

namespace zygos::train {

/// Medians over a short run of real training steps.
struct MeasuredPoint {
  std::vector<std::map<schedule::TaskKind, double>> task_s;  ///< by place
  std::vector<double> step_s;                                ///< every step, in order
  double overhead_s = 0.0;                                   ///< of a step, outside its tasks
};

/// Runs steps for about `seconds` (and at least three) after two to warm up.
MeasuredPoint measure_steps(Engine& engine, const Batch& batch, double seconds);

}  // namespace zygos::train
