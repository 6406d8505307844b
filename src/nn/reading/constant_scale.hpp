// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/nn/onnx_reading.hpp"

#include <optional>

namespace zygos::nn {

/// A sum, difference, product or quotient with a constant as a frozen batch_norm, which is
/// (x - running_mean) gain + shift with a variance of one: of channels where the constant is the
/// same within each, otherwise of all elements of a sample as a vector. Samples may not become
/// larger by it.
std::optional<OnnxLayer> read_constant_scale(OnnxSource& source, const OnnxOperator& op);

}  // namespace zygos::nn
