// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/tensor/tensor.hpp"

#include <array>
#include <string>

namespace zygos {

Tensor Tensor::first(std::int64_t count) const {
  ZYGOS_REQUIRE(shape_.rank() > 0, "a tensor of rank 0 has no samples");
  ZYGOS_REQUIRE(
      count >= 0 && count <= shape_[0],
      "first " + std::to_string(count) + " samples of a tensor of shape " + shape_.text());
  std::array<std::int64_t, Shape::max_rank> dimensions{};
  for (std::size_t axis = 0; axis < shape_.rank(); ++axis) {
    dimensions[axis] = shape_[axis];
  }
  dimensions[0] = count;
  return {data_, dtype_, Shape(std::span<const std::int64_t>(dimensions.data(), shape_.rank()))};
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
