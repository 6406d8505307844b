// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace zygos::ops {

struct Tile {
  std::int64_t row;
  std::int64_t column;
  std::int64_t rows;
  std::int64_t columns;
};

/// The tiles of an M x N product over K that threads compute independently. Depends on the shape
/// alone, never on the number of threads: that is why the bits of a product do not either.
class Tiling {
 public:
  Tiling(std::int64_t m, std::int64_t n, std::int64_t k) : m_(m), n_(n) {
    if (m * n * k <= small_product) {
      choose_small(k);
    } else {
      choose_large();
    }
    tile_columns_count_ = (n + columns_ - 1) / columns_;
  }

  struct Extents {
    std::int64_t rows;
    std::int64_t columns;
  };
  /// Tiles of the given extents, for arithmetic that does not depend on them.
  Tiling(std::int64_t m, std::int64_t n, const Extents& tile)
      : m_(m),
        n_(n),
        rows_(std::max<std::int64_t>(tile.rows, 1)),
        columns_(std::max<std::int64_t>(tile.columns, 1)),
        tile_columns_count_((n + columns_ - 1) / columns_) {}

  std::int64_t count() const { return (m_ + rows_ - 1) / rows_ * tile_columns_count_; }
  Tile operator[](std::int64_t index) const {
    const std::int64_t row = index / tile_columns_count_ * rows_;
    const std::int64_t column = index % tile_columns_count_ * columns_;
    return {row, column, std::min(rows_, m_ - row), std::min(columns_, n_ - column)};
  }

 private:
  /// Up to this volume the operands stay in a core's own cache, and small tiles win.
  static constexpr std::int64_t small_product = std::int64_t{1} << 26;
  /// Below this volume OpenBLAS multiplies without packing its operands first; a tile of it takes
  /// about ten microseconds.
  static constexpr std::int64_t unpacked_volume = 1'000'000;
  static constexpr std::int64_t least_large_tiles = 8;

  void choose_small(std::int64_t k) {
    const std::int64_t area = unpacked_volume / std::max<std::int64_t>(k, 1);
    columns_ = area >= 64 * 64 ? 64 : 32;
    rows_ = std::clamp<std::int64_t>(area / columns_ / 32 * 32, 32, 256);
  }

  /// Wide tiles pack less, but every core of a large machine wants one.
  void choose_large() {
    rows_ = 256;
    for (columns_ = 2048; columns_ > 256; columns_ /= 2) {
      if (((m_ + rows_ - 1) / rows_) * ((n_ + columns_ - 1) / columns_) >= least_large_tiles) {
        break;
      }
    }
  }

  std::int64_t m_;
  std::int64_t n_;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t tile_columns_count_ = 0;
};

}  // namespace zygos::ops
