// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What every op of a training step takes, and what the lane it runs on could do.
#pragma once

#include "zygos/measure/profiler.hpp"
#include "zygos/plan/roofline.hpp"

#include <optional>
#include <vector>

namespace zygos::measure {

/// The whole batch on one lane, layer by layer, and the lane's peak rates.
struct OpTimes {
  std::vector<plan::OpTime> ops;  ///< forward in the order of layers, loss, backward, update
  double step_s = 0.0;            ///< median of the steps that were timed op by op
  plan::PeakRates peak;           ///< medians, too, of samples between those steps
};

/// Real training steps with a task per layer and direction in turn with large products and sums for
/// the peak rates, in rounds, the steps of each from fresh weights: `seconds` in total, and as many
/// for the peak rates. Layers without anything to do in backward are left out there. None, with a
/// line in the log, if the lane's memory can't hold the batch. Throws MemoryError if it has no room
/// for a product of two matrices, 2048 a side.
std::optional<OpTimes> measure_ops(const ProfileRequest& request, schedule::Place place,
                                   double seconds);

}  // namespace zygos::measure
