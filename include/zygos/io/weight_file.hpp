// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Named tensors in files that other programs read and write: safetensors, NumPy's .npz, and the
// constants of a model in ONNX.
#pragma once

#include "zygos/io/stored_tensor.hpp"

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace zygos::io {

struct WeightFile {
  std::vector<StoredTensor> tensors;  ///< in the order of the file
  /// Texts beside the tensors. A .npz has none.
  std::map<std::string, std::string> metadata;
  /// Tensors whose elements are of no type of ours, such as masks of booleans, with that type's
  /// name in the file.
  std::map<std::string, std::string> unreadable;
};

/// Whether the name ends in .safetensors, .npz or .onnx.
bool is_weight_file(const std::filesystem::path& file);

/// Reads a file by its ending: safetensors (.safetensors), NumPy (.npz, packed or not) or ONNX
/// (.onnx, the initializers, with the metadata of the model). Half precision (F16, float16) is
/// widened to f32; all other types are as stored. Throws UsageError for another ending, IoError for
/// a file that can't be read, DataError for a damaged one, naming what was found.
WeightFile read_weight_file(const std::filesystem::path& file);

/// Writes a .safetensors or .npz, which appears under its name when it is complete. `metadata` goes
/// into safetensors only. Throws UsageError for another ending, a name twice, and elements that the
/// format has no type for (bf16 in .npz); IoError when the system refuses.
void write_weight_file(const std::filesystem::path& file, std::span<const TensorRef> tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace zygos::io
