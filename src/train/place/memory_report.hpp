// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of all places, of other ranks included: allocated, and used by the
// tasks that have run.
#pragma once

#include "train/place/places.hpp"

#include "zygos/train/engine.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace zygos::train {

struct MemoryReport {
  std::vector<LaneUsage> usage;
  /// Samples of the largest call that was measured: evaluating, training.
  std::array<std::int64_t, 2> measured_samples{-1, -1};
};

/// What was allocated on a lane.
void add_lane(MemoryReport &report, const std::string &lane, const plan::LaneMemory &memory);
/// The first calls of training and of evaluation, and later ones of more
/// samples: all others use the same memory once more.
bool is_to_measure(MemoryReport &report, const StepInputs &inputs);
/// After a measured call. Collective.
void measure_memory(MemoryReport &report, const Places &places);

}  // namespace zygos::train
