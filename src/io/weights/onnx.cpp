// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/weights/onnx.hpp"

#include "io/weights/onnx_tensor.hpp"

#include <utility>

namespace zygos::io {

WeightFile read_onnx(const std::filesystem::path& file) {
  const onnx::ModelProto model = parse_onnx(file);
  WeightFile out;
  for (const onnx::TensorProto& tensor : model.graph().initializer()) {
    if (auto stored = onnx_tensor(tensor, file)) {
      out.tensors.push_back(*std::move(stored));
    } else {
      out.unreadable[tensor.name()] = onnx::TensorProto::DataType_Name(tensor.data_type());
    }
  }
  for (const onnx::StringStringEntryProto& entry : model.metadata_props()) {
    out.metadata[entry.key()] = entry.value();
  }
  return out;
}

}  // namespace zygos::io
