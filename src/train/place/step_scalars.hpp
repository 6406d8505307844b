// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The numbers in which one step differs from another, in a lane's memory: kernels that were
// recorded read them there.
#pragma once

#include "zygos/tensor/tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::train {

struct PlaceState;

/// Empty on places whose steps are not recorded.
struct StepScalars {
  std::byte* on_lane = nullptr;
  std::byte* staged = nullptr;  ///< in host memory
  std::size_t bytes = 0;
  const std::uint64_t* step = nullptr;  ///< on the lane
  /// By update of the schedule, (nn::update_scalars) f64 on the lane; empty where the optimizer
  /// does not read them.
  std::vector<Tensor> of_updates;
};

StepScalars bind_step_scalars(const PlaceState& state);
/// Those of the call's step, in host memory. Between calls.
void fill_step_scalars(const PlaceState& state);
/// From there to the lane, on the compute line before all else of a step.
void copy_step_scalars(PlaceState& state);

}  // namespace zygos::train
