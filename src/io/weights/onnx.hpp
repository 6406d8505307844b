// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The constants of a model in ONNX: its initializers.
#pragma once

#include "zygos/io/weight_file.hpp"

namespace zygos::io {

/// See read_weight_file(). Throws UsageError in a build without ONNX.
WeightFile read_onnx(const std::filesystem::path& file);

}  // namespace zygos::io
