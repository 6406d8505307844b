// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators of ONNX on constants: what exporters leave to whoever runs a model.
#pragma once

#include "zygos/nn/onnx_reading.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace zygos::load {

/// The operator's output of this number from its inputs, of which those left out are null. Nothing
/// for an operator that is not known here.
std::optional<nn::OnnxConstant> computed(const nn::OnnxOperator& op, std::size_t output,
                                         const std::vector<const nn::OnnxConstant*>& inputs);

}  // namespace zygos::load
