// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/samples/npy_elements.hpp"

#include "io/weights/half.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace zygos::io {
namespace {

/// Elements of an array in Fortran order, in C order.
std::vector<std::byte> in_c_order(const std::vector<std::byte>& from, const Shape& shape,
                                  std::size_t element_bytes) {
  std::vector<std::byte> to(from.size());
  std::array<std::int64_t, Shape::max_rank> index{};
  for (std::int64_t i = 0; i < shape.size(); ++i) {
    std::int64_t source = 0;  // the last axis is the slowest there
    for (std::size_t axis = shape.rank(); axis-- > 0;) {
      source = source * shape[axis] + index[axis];
    }
    std::memcpy(to.data() + static_cast<std::size_t>(i) * element_bytes,
                from.data() + static_cast<std::size_t>(source) * element_bytes, element_bytes);
    for (std::size_t axis = shape.rank(); axis-- > 0 && ++index[axis] == shape[axis];) {
      index[axis] = 0;
    }
  }
  return to;
}

}  // namespace

std::optional<std::size_t> element_bytes(const NpyHeader& header) {
  if (header.dtype) {
    return size_of(*header.dtype);
  }
  return header.type == npy_half ? std::optional<std::size_t>(2) : std::nullopt;
}

StoredTensor tensor_of(std::string name, const NpyHeader& header, std::vector<std::byte> elements) {
  const bool half = !header.dtype;
  if (header.fortran_order && header.shape.rank() > 1) {
    elements = in_c_order(elements, header.shape, half ? 2 : size_of(*header.dtype));
  }
  return {std::move(name), header.dtype.value_or(DType::f32), header.shape,
          half ? widened(elements) : std::move(elements)};
}

}  // namespace zygos::io
