// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace zygos {

/// Extents of a tensor, row major (last extent is contiguous), rank 0 to 6. A plain value: copying
/// one never allocates, so a shape may be built inside a step.
class Shape {
 public:
  static constexpr std::size_t max_rank = 6;

  Shape() = default;
  /// Throws UsageError for a negative extent, more than max_rank dimensions, or a product over
  /// 2^58.
  Shape(std::initializer_list<std::int64_t> dimensions)
      : Shape(std::span<const std::int64_t>(dimensions.begin(), dimensions.size())) {}
  explicit Shape(std::span<const std::int64_t> dimensions);

  std::size_t rank() const noexcept { return rank_; }
  std::int64_t operator[](std::size_t axis) const { return dimensions_[axis]; }
  std::span<const std::int64_t> dimensions() const noexcept { return {dimensions_.data(), rank_}; }
  /// Number of elements; 1 for rank 0.
  std::int64_t size() const noexcept;
  /// This shape with one more extent in front: (N) + (C, H, W) -> (N, C, H, W).
  Shape with_leading(std::int64_t extent) const;
  /// This shape without its first extent: (N, C, H, W) -> (C, H, W); rank 0 stays.
  Shape without_leading() const;
  /// This shape without dimensions of 1, which decide nothing about where an element lies.
  Shape without_ones() const;
  /// "[100, 784]"
  std::string text() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::array<std::int64_t, max_rank> dimensions_{};
  std::size_t rank_ = 0;
};

}  // namespace zygos
