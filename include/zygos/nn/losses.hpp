// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/nn/loss.hpp"

namespace zygos::nn {

/// Softmax and cross-entropy in one, stable for any logits. Labels outside [0, K) are refused when
/// data is loaded, not here.
LossPtr cross_entropy();
/// Mean over a sample's elements of (prediction - target)^2.
LossPtr mean_squared_error();

}  // namespace zygos::nn
