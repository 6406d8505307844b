// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/weights/onnx_tensor.hpp"

#include "io/byte_source.hpp"
#include "io/weights/half.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <utility>

namespace zygos::io {
namespace {

namespace fs = std::filesystem;

/// Elements in whichever field of the message they are, as their bytes in memory.
template <class Field>
std::vector<std::byte> bytes_of(const Field& field) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(field.size()) * sizeof(*field.data()));
  if (!bytes.empty()) {
    std::memcpy(bytes.data(), field.data(), bytes.size());
  }
  return bytes;
}

std::vector<std::byte> elements_in(const onnx::TensorProto& tensor) {
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
    case onnx::TensorProto::BOOL: {
      const std::vector<std::uint8_t> flags(tensor.int32_data().begin(), tensor.int32_data().end());
      return bytes_of(flags);
    }
    default: {  // 16 bits in each of int32_data
      const std::vector<std::uint16_t> halves(tensor.int32_data().begin(),
                                              tensor.int32_data().end());
      return bytes_of(halves);
    }
  }
}

/// Where in another file the elements are.
struct External {
  std::string location;
  std::int64_t offset = 0;
  std::int64_t length = -1;  ///< to the end
};

External external_of(const onnx::TensorProto& tensor) {
  External out;
  for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
    const std::string& value = entry.value();
    if (entry.key() == "location") {
      out.location = value;
    } else if (entry.key() == "offset") {
      std::from_chars(value.data(), value.data() + value.size(), out.offset);
    } else if (entry.key() == "length") {
      std::from_chars(value.data(), value.data() + value.size(), out.length);
    }
  }
  return out;
}

std::vector<std::byte> elements_beside(const onnx::TensorProto& tensor, const fs::path& file) {
  const External where = external_of(tensor);
  const fs::path location = where.location;
  const bool inside = !location.empty() && location.is_relative() &&
                      std::ranges::find(location, fs::path("..")) == location.end();
  if (!inside) {
    throw DataError(file.string() + ": the elements of '" + tensor.name() + "' are in '" +
                    where.location + "'; allowed is a file in the folder of the model, or below");
  }
  const fs::path beside = file.parent_path() / location;
  std::ifstream in(beside, std::ios::binary);
  std::error_code unknown;
  const bool is_file = in && fs::is_regular_file(beside, unknown);
  const std::int64_t size = is_file ? static_cast<std::int64_t>(fs::file_size(beside, unknown)) : 0;
  const std::int64_t offset = std::max<std::int64_t>(where.offset, 0);
  const std::int64_t length = where.length < 0 ? size - offset : where.length;
  if (!is_file || where.offset < 0 || length < 0 || length > size || offset > size - length) {
    throw DataError(file.string() + ": the elements of '" + tensor.name() + "' should be in " +
                    beside.string() +
                    ", which is not there or too short; keep both files together");
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(length));
  in.seekg(offset);
  in.read(reinterpret_cast<char*>(bytes.data()), length);
  if (!in) {
    throw DataError(beside.string() + ": cannot read the elements of '" + tensor.name() + "'");
  }
  return bytes;
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

}  // namespace

onnx::ModelProto parse_onnx(const fs::path& file) {
  require_readable_file(file);
  std::ifstream in(file, std::ios::binary);
  onnx::ModelProto model;
  if (!in || !model.ParseFromIstream(&in) || !model.has_graph()) {
    throw DataError(file.string() + ": is no model in ONNX, or not all of one");
  }
  return model;
}

std::vector<std::byte> onnx_elements(const onnx::TensorProto& tensor, const fs::path& file) {
  return tensor.data_location() == onnx::TensorProto::EXTERNAL ? elements_beside(tensor, file)
                                                               : elements_in(tensor);
}

std::optional<StoredTensor> onnx_tensor(const onnx::TensorProto& tensor, const fs::path& file) {
  const auto dtype = dtype_in(tensor);
  if (!dtype) {
    return std::nullopt;
  }
  try {
    const std::vector<std::int64_t> dimensions(tensor.dims().begin(), tensor.dims().end());
    StoredTensor stored{tensor.name(), *dtype, Shape(dimensions), onnx_elements(tensor, file)};
    if (tensor.data_type() == onnx::TensorProto::FLOAT16) {
      stored.bytes = widened(stored.bytes);
    }
    if (stored.bytes.size() != static_cast<std::size_t>(stored.shape.size()) * size_of(*dtype)) {
      throw DataError(file.string() + ": tensor '" + tensor.name() + "' of shape " +
                      stored.shape.text() + " has " + std::to_string(stored.bytes.size()) +
                      " bytes");
    }
    return stored;
  } catch (const UsageError& problem) {
    throw DataError(file.string() + ": tensor '" + tensor.name() + "': " + problem.what());
  }
}

}  // namespace zygos::io
