// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/sample_source.hpp"

#include "zygos/core/error.hpp"

#include <memory>
#include <string>

namespace zygos::io {
namespace {

Array part_of(const Array& whole, std::int64_t first, std::int64_t count) {
  Array part = whole;
  part.shape = whole.shape.without_leading().with_leading(count);
  const std::size_t row_bytes = whole.bytes() / static_cast<std::size_t>(whole.samples());
  part.data = {whole.data, whole.data.get() + static_cast<std::size_t>(first) * row_bytes};
  return part;
}

std::shared_ptr<std::byte> make_room(Array& array, std::int64_t count, const std::string& name) {
  array.shape = array.shape.without_leading().with_leading(count);
  auto room = allocate_bytes(array.bytes(), name);
  array.data = room;
  return room;
}

}  // namespace

Dataset samples_in_memory(const Dataset& data, std::int64_t first, std::int64_t count) {
  if (first < 0 || count < 1 || first + count > data.size()) {
    throw UsageError(data.name + ": samples " + std::to_string(first) + " to " +
                     std::to_string(first + count - 1) + " were asked for, there are " +
                     std::to_string(data.size()));
  }
  Dataset part = data;
  part.source = nullptr;
  part.first = data.first + first;
  if (data.source == nullptr) {
    part.inputs = part_of(data.inputs, first, count);
    part.targets = part_of(data.targets, first, count);
    return part;
  }
  const auto inputs = make_room(part.inputs, count, data.name);
  const auto targets = make_room(part.targets, count, data.name);
  data.source->read(first, count, inputs.get(), targets.get());
  data.source->check(part);
  return part;
}

}  // namespace zygos::io
