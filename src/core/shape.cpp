// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/shape.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <array>

namespace zygos {

Shape::Shape(std::span<const std::int64_t> dimensions) {
  if (dimensions.size() > max_rank) {
    throw UsageError("a shape has at most " + std::to_string(max_rank) + " dimensions, got " +
                     std::to_string(dimensions.size()));
  }
  // Bytes, at up to 8 an element, and a sum of a few tensors fit into 63 bits.
  constexpr std::int64_t limit = std::int64_t{1} << 58;
  std::int64_t product = 1;
  for (const std::int64_t extent : dimensions) {
    if (extent < 0) {
      throw UsageError("negative extent " + std::to_string(extent) + " in a shape");
    }
    if (extent > 0 && product > limit / extent) {
      throw UsageError("a shape's number of elements exceeds 2^58");
    }
    product *= std::max<std::int64_t>(extent, 1);
    dimensions_[rank_++] = extent;
  }
}

std::int64_t Shape::size() const noexcept {
  std::int64_t product = 1;
  for (std::size_t axis = 0; axis < rank_; ++axis) {
    product *= dimensions_[axis];
  }
  return product;
}

Shape Shape::with_leading(std::int64_t extent) const {
  std::array<std::int64_t, max_rank + 1> all{extent};
  std::copy_n(dimensions_.begin(), rank_, all.begin() + 1);
  return Shape(std::span<const std::int64_t>(all.data(), rank_ + 1));
}

Shape Shape::without_leading() const {
  return rank() == 0 ? Shape{} : Shape(dimensions().subspan(1));
}

Shape Shape::without_ones() const {
  std::array<std::int64_t, max_rank> kept{};
  const auto end = std::ranges::copy_if(dimensions(), kept.begin(), [](std::int64_t extent) {
                     return extent != 1;
                   }).out;
  return Shape(std::span<const std::int64_t>(kept.begin(), end));
}

std::string Shape::text() const {
  std::string out = "[";
  for (std::size_t axis = 0; axis < rank_; ++axis) {
    out += (axis == 0 ? "" : ", ") + std::to_string(dimensions_[axis]);
  }
  return out + "]";
}

}  // namespace zygos
