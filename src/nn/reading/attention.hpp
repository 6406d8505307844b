// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/nn/onnx_reading.hpp"

#include <optional>

namespace zygos::nn {

/// causal_attention as softmax(mask(q k^T scale)) v, with a Dropout of the weights or without.
/// Queries, keys and values are the output of one layer as causal_attention reads it, or features
/// in any arrangement of one or several dense layers, which become one. Throws UsageError for
/// attention of another kind.
std::optional<OnnxLayer> read_causal_attention(OnnxSource& source, const OnnxOperator& op);

}  // namespace zygos::nn
