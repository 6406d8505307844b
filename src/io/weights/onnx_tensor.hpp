// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages of ONNX as tensors. For source files of a build with ONNX.
#pragma once

#include "zygos/io/stored_tensor.hpp"

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

namespace zygos::io {

/// Throws DataError for a file that is none, or not all of one.
onnx::ModelProto parse_onnx(const std::filesystem::path& file);

/// The elements as the file has them: in the message, or in another file beside it. Throws
/// DataError, naming `file` and the tensor, for less of them than the shape says.
std::vector<std::byte> onnx_elements(const onnx::TensorProto& tensor,
                                     const std::filesystem::path& file);

/// Nothing for elements of a type that is none of ours, such as truth values. Half precision
/// becomes f32.
std::optional<StoredTensor> onnx_tensor(const onnx::TensorProto& tensor,
                                        const std::filesystem::path& file);

}  // namespace zygos::io
