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
/// Mean over a sample's elements of |prediction - target|; its gradient is zero where they are
/// equal.
LossPtr mean_absolute_error();
/// Mean over a sample's elements of -t log s(p) - (1 - t) log(1 - s(p)), with s the sigmoid, p a
/// logit and t a target in [0, 1]; stable for any logit. A sample is a hit where all of its
/// elements are on their targets' side of one half.
LossPtr binary_cross_entropy();

}  // namespace zygos::nn
