// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/byte_source.hpp"
#include "io/files/pending_file.hpp"
#include "io/weights/npz.hpp"
#include "io/weights/onnx.hpp"
#include "io/weights/safetensors.hpp"

#include "zygos/core/error.hpp"

#include <set>

namespace zygos::io {
namespace {

constexpr const char* safetensors_ending = ".safetensors";
constexpr const char* npz_ending = ".npz";
constexpr const char* onnx_ending = ".onnx";

void require_known_ending(const std::filesystem::path& file) {
  if (!is_weight_file(file)) {
    throw UsageError("'" + file.string() + "' ends in '" + file.extension().string() +
                     "'; allowed for weights are .safetensors, .npz and .onnx");
  }
}

}  // namespace

bool is_weight_file(const std::filesystem::path& file) {
  return file.extension() == safetensors_ending || file.extension() == npz_ending ||
         file.extension() == onnx_ending;
}

WeightFile read_weight_file(const std::filesystem::path& file) {
  require_known_ending(file);
  require_readable_file(file);
  if (file.extension() == onnx_ending) {
    return read_onnx(file);
  }
  return file.extension() == npz_ending ? read_npz(file) : read_safetensors(file);
}

void write_weight_file(const std::filesystem::path& file, std::span<const TensorRef> tensors,
                       const std::map<std::string, std::string>& metadata) {
  require_known_ending(file);
  if (file.extension() == onnx_ending) {
    throw UsageError(file.string() + " would hold weights without a model, which is no ONNX");
  }
  require_folder_of(file);
  std::set<std::string> names;
  for (const TensorRef& tensor : tensors) {
    if (!names.insert(tensor.name).second) {
      throw UsageError(file.string() + " would hold two tensors called '" + tensor.name + "'");
    }
  }
  if (file.extension() == npz_ending) {
    write_npz(file, tensors);
  } else {
    write_safetensors(file, tensors, metadata);
  }
}

}  // namespace zygos::io
