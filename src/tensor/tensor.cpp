// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/tensor/tensor.hpp"

#include <array>
#include <string>

namespace zygos {

Tensor Tensor::samples(std::int64_t begin, std::int64_t count) const {
  ZYGOS_REQUIRE(shape_.rank() > 0, "a tensor of rank 0 has no samples");
  ZYGOS_REQUIRE(begin >= 0 && count >= 0 && begin + count <= shape_[0],
                std::to_string(count) + " samples from " + std::to_string(begin) +
                    " on of a tensor of shape " + shape_.text());
  std::array<std::int64_t, Shape::max_rank> dimensions{};
  std::size_t sample_bytes = size_of(dtype_);
  for (std::size_t axis = 0; axis < shape_.rank(); ++axis) {
    dimensions[axis] = shape_[axis];
    sample_bytes *= axis > 0 ? static_cast<std::size_t>(shape_[axis]) : std::size_t{1};
  }
  dimensions[0] = count;
  return {static_cast<std::byte*>(data_) + static_cast<std::size_t>(begin) * sample_bytes, dtype_,
          Shape(std::span<const std::int64_t>(dimensions.data(), shape_.rank()))};
}

Tensor Tensor::reshaped(const Shape& shape) const {
  ZYGOS_REQUIRE(shape.size() == shape_.size(),
                "can't see shape " + shape_.text() + " as " + shape.text());
  return {data_, dtype_, shape};
}

MatrixExtents as_matrix(const Shape& shape) {
  ZYGOS_REQUIRE(shape.rank() > 0, "a shape of rank 0 is no matrix");
  std::int64_t columns = 1;
  for (std::size_t axis = 1; axis < shape.rank(); ++axis) {
    columns *= shape[axis];
  }
  return {shape[0], columns};
}

}  // namespace zygos
