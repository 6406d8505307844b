// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/gemm/gemm.hpp"

#include "zygos/nn/layer.hpp"

namespace zygos::nn {

/// How a backward pass writes gradients of parameters: those of earlier micro-batches stay.
inline ops::Into gradient_into(const BackwardArgs& args) {
  return args.accumulates ? ops::Into::added : ops::Into::replaced;
}

}  // namespace zygos::nn
