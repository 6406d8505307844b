// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/nn/onnx_reading.hpp"

#include <optional>

namespace zygos::nn {

/// silu as Swish with alpha 1, or as x times Sigmoid(x). Throws UsageError for another alpha.
std::optional<OnnxLayer> read_silu(OnnxSource& source, const OnnxOperator& op);

/// gelu as Gelu, or as x (1 + f) / 2 in any order, with f = Erf(x / sqrt(2)) or, for the option
/// `approximate: tanh`, Tanh of sqrt(2 / pi) (x + 0.044715 x^3) in any arrangement of products,
/// sums and powers.
std::optional<OnnxLayer> read_gelu(OnnxSource& source, const OnnxOperator& op);

}  // namespace zygos::nn
