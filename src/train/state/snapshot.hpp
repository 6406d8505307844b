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
#include <span>
#include <string>
#include <vector>

namespace zygos::train {

/// Weights as given, by the names of parameters, the others from the seed; optimizer states zero.
/// Throws UsageError for a weight that does not fit, NumericError for one that is not finite.
void begin_state(const ModelState &state, std::uint64_t seed, std::span<const io::TensorRef> given);
/// Throws CheckpointError for a missing tensor or another shape or dtype.
void restore_state(const ModelState &state, const nn::Optimizer &optimizer,
                   const io::Checkpoint &checkpoint);
/// "weights", then the optimizer's states: the flat buffers of a place, by
/// name.
std::vector<std::string> buffer_names(const nn::Optimizer &optimizer);
/// Throws the NumericError of a weight that is not finite.
[[noreturn]] void refuse_not_finite(const std::string &name);
/// In host memory until the next call. Throws NumericError if a weight is not
/// finite.
std::vector<io::TensorRef> snapshot_of(ModelState &state, const nn::Optimizer &optimizer);

}  // namespace zygos::train
