// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What every op of a training step takes, and what the lane it runs on could do.
#pragma once

#include "zygos/plan/roofline.hpp"
#include "zygos/train/profiler.hpp"

#include <optional>
#include <vector>

namespace zygos::train {

/// The whole batch on one lane, layer by layer.
struct OpTimes {
  std::vector<plan::OpTime> ops;  ///< forward in the order of layers, loss, backward, update
  double step_s = 0.0;            ///< median of the steps that were timed op by op
};

/// Runs real training steps with a task per layer and direction for `seconds`; medians. Layers
/// without anything to do in backward are left out there. None, with a line in the log, if the
/// lane's memory can't hold the batch.
std::optional<OpTimes> measure_ops(const ProfileRequest& request, schedule::Place place,
                                   double seconds);

/// The lane's best rates of about half a second: products of square matrices, 2048 a side, by the
/// kernel that layers use, and sums of two vectors of 128 MiB each (as STREAM counts: two reads and
/// a write); of smaller ones if the lane's budget has no room. Throws MemoryError if it has none.
plan::Roof measure_roof(lane::Lane& lane, DType dtype);

}  // namespace zygos::train
