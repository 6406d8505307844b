// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace zygos::ops {

/// A rectangle of the result.
struct GemmTile {
  std::int64_t row;
  std::int64_t column;
  std::int64_t rows;
  std::int64_t columns;
};

/// The tiles of an m x n result that threads compute independently.
class GemmTiling {
 public:
  struct Extents {
    std::int64_t rows;
    std::int64_t columns;
  };
  /// All of the given dimensions, but those at the lower and right edges.
  GemmTiling(std::int64_t m, std::int64_t n, const Extents& tile)
      : m_(m),
        n_(n),
        rows_(std::max<std::int64_t>(tile.rows, 1)),
        columns_(std::max<std::int64_t>(tile.columns, 1)),
        tile_columns_count_((n + columns_ - 1) / columns_) {}

  std::int64_t count() const { return (m_ + rows_ - 1) / rows_ * tile_columns_count_; }
  GemmTile operator[](std::int64_t index) const {
    const std::int64_t row = index / tile_columns_count_ * rows_;
    const std::int64_t column = index % tile_columns_count_ * columns_;
    return {row, column, std::min(rows_, m_ - row), std::min(columns_, n_ - column)};
  }

 private:
  std::int64_t m_;
  std::int64_t n_;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t tile_columns_count_ = 0;
};

}  // namespace zygos::ops
