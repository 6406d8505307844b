// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace zygos::fuzz {

/// A dense layer as a model of ONNX, and a model with constants of every kind; none in a build
/// without ONNX.
std::vector<std::string> onnx_seeds();

}  // namespace zygos::fuzz
