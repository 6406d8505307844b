// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/nn/onnx_reading.hpp"

#include <optional>

namespace zygos::nn {

/// attention as softmax(q k^T scale) v, with a Dropout of the weights or without. Queries, keys and
/// values are the output of one layer as attention reads it, or features in any arrangement of one
/// or several dense layers, which become one. Nothing for causal attention. Throws UsageError for
/// attention of another kind.
std::optional<OnnxLayer> read_attention(OnnxSource& source, const OnnxOperator& op);

/// The same of causal_attention as softmax(mask(q k^T scale)) v; nothing for attention without a
/// mask.
std::optional<OnnxLayer> read_causal_attention(OnnxSource& source, const OnnxOperator& op);

}  // namespace zygos::nn
