// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/weights/onnx.hpp"

#include "io/weights/half.hpp"

#include "zygos/core/error.hpp"

#include <onnx/onnx_pb.h>

#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

namespace zygos::io {
namespace {

/// Elements in whichever field of the message they are, as their bytes in memory.
template <class Field>
std::vector<std::byte> bytes_of(const Field& field) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(field.size()) * sizeof(*field.data()));
  std::memcpy(bytes.data(), field.data(), bytes.size());
  return bytes;
}

std::vector<std::byte> elements_of(const onnx::TensorProto& tensor) {
  if (tensor.has_raw_data()) {
    const std::string& raw = tensor.raw_data();
    const auto bytes = std::as_bytes(std::span(raw));
    return {bytes.begin(), bytes.end()};
  }
  switch (tensor.data_type()) {
    case onnx::TensorProto::FLOAT:
      return bytes_of(tensor.float_data());
    case onnx::TensorProto::DOUBLE:
      return bytes_of(tensor.double_data());
    case onnx::TensorProto::INT64:
      return bytes_of(tensor.int64_data());
    case onnx::TensorProto::INT32:
      return bytes_of(tensor.int32_data());
    default: {  // 16 bits in each of int32_data
      std::vector<std::uint16_t> halves(tensor.int32_data().begin(), tensor.int32_data().end());
      return bytes_of(halves);
    }
  }
}

std::optional<DType> dtype_in(const onnx::TensorProto& tensor) {
  switch (tensor.data_type()) {
    case onnx::TensorProto::FLOAT:
    case onnx::TensorProto::FLOAT16:
      return DType::f32;
    case onnx::TensorProto::DOUBLE:
      return DType::f64;
    case onnx::TensorProto::BFLOAT16:
      return DType::bf16;
    case onnx::TensorProto::INT64:
      return DType::i64;
    case onnx::TensorProto::INT32:
      return DType::i32;
    default:
      return std::nullopt;
  }
}

void take(const onnx::TensorProto& tensor, const std::string& file, WeightFile& out) {
  const auto dtype = dtype_in(tensor);
  if (!dtype) {
    out.unreadable[tensor.name()] = onnx::TensorProto::DataType_Name(tensor.data_type());
    return;
  }
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    throw DataError(file + ": the elements of '" + tensor.name() +
                    "' are in another file; save the model with all of them in one");
  }
  try {
    const std::vector<std::int64_t> dimensions(tensor.dims().begin(), tensor.dims().end());
    StoredTensor stored{tensor.name(), *dtype, Shape(dimensions), elements_of(tensor)};
    if (tensor.data_type() == onnx::TensorProto::FLOAT16) {
      stored.bytes = widened(stored.bytes);
    }
    if (stored.bytes.size() != static_cast<std::size_t>(stored.shape.size()) * size_of(*dtype)) {
      throw DataError(file + ": tensor '" + tensor.name() + "' of shape " + stored.shape.text() +
                      " has " + std::to_string(stored.bytes.size()) + " bytes");
    }
    out.tensors.push_back(std::move(stored));
  } catch (const UsageError& problem) {
    throw DataError(file + ": tensor '" + tensor.name() + "': " + problem.what());
  }
}

}  // namespace

WeightFile read_onnx(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  onnx::ModelProto model;
  if (!in || !model.ParseFromIstream(&in) || !model.has_graph()) {
    throw DataError(file.string() + ": is no model in ONNX, or not all of one");
  }
  WeightFile out;
  for (const onnx::TensorProto& tensor : model.graph().initializer()) {
    take(tensor, file.string(), out);
  }
  for (const onnx::StringStringEntryProto& entry : model.metadata_props()) {
    out.metadata[entry.key()] = entry.value();
  }
  return out;
}

}  // namespace zygos::io
