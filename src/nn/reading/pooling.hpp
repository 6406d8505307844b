// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/nn/onnx_reading.hpp"

#include <optional>

namespace zygos::nn {

/// max_pool2d and average_pool2d: MaxPool and AveragePool with a Pad before them, their global
/// forms, and ReduceMax and ReduceMean over axes of images or sequences. Lines are images of one
/// row.
std::optional<OnnxLayer> read_pool(OnnxSource& source, const OnnxOperator& op);

}  // namespace zygos::nn
