// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/nn/onnx_reading.hpp"

#include <optional>

namespace zygos::nn {

/// A graph_conv as it is written in ONNX: a constant matrix from the left, then the weights. The
/// graph, or the tree's fan-outs, become options of the layer, if these give the same matrix.
std::optional<OnnxLayer> read_graph_conv(OnnxSource& source, const OnnxOperator& op);

}  // namespace zygos::nn
