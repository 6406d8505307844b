// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/insitu/state.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

namespace zygos::insitu {
namespace {

/// Begins every buffer; the last character is the version of its layout.
constexpr std::array<char, 8> magic{'Z', 'Y', 'G', 'S', 'T', 'A', 'T', '1'};

class Writer {
 public:
  void raw(const void* data, std::size_t bytes) {
    const auto* begin = static_cast<const std::byte*>(data);
    out_.insert(out_.end(), begin, begin + bytes);
  }
  void number(std::uint64_t value) { raw(&value, sizeof(value)); }
  std::vector<std::byte> take() { return std::move(out_); }

 private:
  std::vector<std::byte> out_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::span<const std::byte> raw(std::uint64_t bytes) {
    if (bytes > rest_.size()) {
      throw CheckpointError("the buffer of a saved state is cut off: " + std::to_string(bytes) +
                            " bytes were to follow, " + std::to_string(rest_.size()) + " do");
    }
    const auto part = rest_.first(static_cast<std::size_t>(bytes));
    rest_ = rest_.subspan(part.size());
    return part;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, raw(sizeof(value)).data(), sizeof(value));
    return value;
  }
  std::string text(std::uint64_t length) {
    const auto bytes = raw(length);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
};

StoredTensor read_tensor(Reader& reader) {
  StoredTensor tensor;
  tensor.name = reader.text(reader.number());
  tensor.dtype = dtype_from_name(reader.text(reader.number()));
  const std::uint64_t rank = reader.number();
  if (rank > Shape::max_rank) {
    throw CheckpointError("tensor '" + tensor.name + "' of a saved state has " +
                          std::to_string(rank) + " dimensions");
  }
  std::array<std::int64_t, Shape::max_rank> dimensions{};
  for (std::size_t axis = 0; axis < rank; ++axis) {
    dimensions[axis] = static_cast<std::int64_t>(reader.number());
  }
  tensor.shape =
      Shape(std::span<const std::int64_t>(dimensions.data(), static_cast<std::size_t>(rank)));
  const auto bytes =
      reader.raw(static_cast<std::uint64_t>(tensor.shape.size()) * size_of(tensor.dtype));
  tensor.bytes.assign(bytes.begin(), bytes.end());
  return tensor;
}

}  // namespace

bool State::has(std::string_view name) const {
  return std::ranges::find(tensors, name, &StoredTensor::name) != tensors.end();
}

const StoredTensor& State::tensor(std::string_view name, DType dtype, const Shape& shape) const {
  const auto found = std::ranges::find(tensors, name, &StoredTensor::name);
  if (found == tensors.end()) {
    throw CheckpointError("the saved state has no '" + std::string(name) + "'");
  }
  const auto bytes = static_cast<std::size_t>(shape.size()) * size_of(dtype);
  if (found->dtype != dtype || found->shape != shape || found->bytes.size() != bytes) {
    throw CheckpointError("'" + found->name + "' of the saved state is " +
                          std::string(name_of(found->dtype)) + " " + found->shape.text() +
                          ", needed is " + std::string(name_of(dtype)) + " " + shape.text());
  }
  return *found;
}

State& State::operator+=(State other) {
  std::ranges::move(other.tensors, std::back_inserter(tensors));
  return *this;
}

std::vector<std::byte> to_bytes(const State& state) {
  Writer writer;
  writer.raw(magic.data(), magic.size());
  writer.number(state.tensors.size());
  for (const StoredTensor& tensor : state.tensors) {
    const std::string_view type = name_of(tensor.dtype);
    writer.number(tensor.name.size());
    writer.raw(tensor.name.data(), tensor.name.size());
    writer.number(type.size());
    writer.raw(type.data(), type.size());
    writer.number(tensor.shape.rank());
    for (const std::int64_t extent : tensor.shape.dimensions()) {
      writer.number(static_cast<std::uint64_t>(extent));
    }
    writer.raw(tensor.bytes.data(), tensor.bytes.size());
  }
  return writer.take();
}

State from_bytes(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  if (bytes.size() < magic.size() ||
      reader.text(magic.size()) != std::string(magic.begin(), magic.end())) {
    throw CheckpointError("the buffer is not a state that to_bytes() has written");
  }
  State state;
  try {
    for (std::uint64_t left = reader.number(); left > 0; --left) {
      state.tensors.push_back(read_tensor(reader));
    }
  } catch (const UsageError& refusal) {
    throw CheckpointError(std::string("the buffer of a saved state is damaged: ") + refusal.what());
  }
  if (!reader.at_end()) {
    throw CheckpointError("the buffer of a saved state has bytes behind its end");
  }
  return state;
}

}  // namespace zygos::insitu
