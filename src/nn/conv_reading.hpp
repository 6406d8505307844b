// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/nn/onnx_reading.hpp"

#include <optional>

namespace zygos::nn {

/// conv2d, conv_transpose2d and conv1d as ONNX has them: Conv and ConvTranspose, with a Pad of
/// zeros before and the bias within or as an Add behind. Lines are (1, channels, length), or images
/// of one row made of a layer of lines, as conv1d itself is written; a ConvTranspose of lines is a
/// conv_transpose2d of images of one row.
std::optional<OnnxLayer> read_conv2d(OnnxSource& source, const OnnxOperator& op);
std::optional<OnnxLayer> read_conv_transpose2d(OnnxSource& source, const OnnxOperator& op);
std::optional<OnnxLayer> read_conv1d(OnnxSource& source, const OnnxOperator& op);

}  // namespace zygos::nn
