// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// State by the names of the caller's parameters: where it begins, is saved and
// comes back.
#pragma once

#include "train/state/model_state.hpp"

#include "zygos/io/checkpoint_store.hpp"
#include "zygos/nn/optimizer.hpp"

#include <cstdint>
#include <vector>

namespace zygos::train {

/// Weights from the seed, optimizer states zero.
void begin_state(const ModelState &state, std::uint64_t seed);
/// Throws CheckpointError for a missing tensor or another shape or dtype.
void restore_state(const ModelState &state, const nn::Optimizer &optimizer,
                   const io::Checkpoint &checkpoint);
/// In host memory until the next call. Throws NumericError if a weight is not
/// finite.
std::vector<io::TensorRef> snapshot_of(ModelState &state, const nn::Optimizer &optimizer);

}  // namespace zygos::train
