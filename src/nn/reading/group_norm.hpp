// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/nn/onnx_reading.hpp"

#include <optional>

namespace zygos::nn {

/// group_norm as GroupNormalization (gain and shift for each channel or, as in version 18, for each
/// group), as InstanceNormalization, or as InstanceNormalization between two Reshapes with products
/// and sums by channel behind it, as PyTorch's exporters write it for versions before 21.
std::optional<OnnxLayer> read_group_norm(OnnxSource& source, const OnnxOperator& op);

}  // namespace zygos::nn
