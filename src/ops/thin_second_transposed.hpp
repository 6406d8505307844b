// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The form a b^T of thin_product.hpp: rows of the smaller operand are transposed into panels, those
// of the other are read in place.
#pragma once

#include "ops/thin_copies.hpp"
#include "ops/thin_kernel.hpp"
#include "ops/thin_product.hpp"
#include "ops/thin_rows.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace zygos::ops::thin {

/// Rows of a that the second form transposes at a time.
inline constexpr std::int64_t most_transposed_rows = 128;

/// The transposed result of a tile, ct (columns, padded rows) = b a^T: the rows of b are read in
/// place, and the few of a are its vectors.
template <class T>
void multiply_transposed(const ThinProduct<T>& product, const Tile& tile, std::int64_t begin,
                         std::int64_t depth, const T* packed, T* ct) {
  const std::int64_t padded = rounded_up(tile.rows, width<T>);
  const std::int64_t stride = product.b_stride;
  for_each_part(
      tile.column, tile.columns, most_rows,
      [&](std::int64_t column, std::int64_t columns, std::int64_t) {
        const T* const x = product.b + column * stride + begin;
        const bool last = column + columns >= product.n;
        for_each_panel<T>(padded, [&](std::int64_t row, std::int64_t vectors) {
          Block<T> block{depth,
                         x,
                         stride,
                         packed + row * depth,
                         vectors * width<T>,
                         ct + (column - tile.column) * padded + row,
                         padded,
                         begin > 0};
          block.ahead = x + columns * stride;
          block.line_stride = stride;
          block.round_stride = line<T>;
          block.rounds = last ? 0 : depth;
          constexpr Plan plan{
              .x_along_k = true, .ahead = Plan::operand, .steps = line<T>, .lines = most_rows};
          multiply_vectors<plan>(vectors, columns, block);
        });
      });
}

/// Of few rows: those of a are copied.
template <class T>
void compute_transposed(const ThinProduct<T>& product, const Tile& tile) {
  alignas(line_bytes) Buffer<T> packed;
  alignas(line_bytes) Buffer<T> ct;
  // Of the product and not of the tile: it decides the order of the sums.
  const std::int64_t most_padded = rounded_up(std::min(product.m, most_transposed_rows), width<T>);
  const std::int64_t most_depth = buffer_size<T> / most_padded / width<T> * width<T>;
  for_each_part(
      tile.row, tile.rows, most_transposed_rows,
      [&](std::int64_t row, std::int64_t rows, std::int64_t) {
        const std::int64_t padded = rounded_up(rows, width<T>);
        const std::int64_t most_columns = buffer_size<T> / padded;
        const std::int64_t end = tile.column + tile.columns;
        for (std::int64_t column = tile.column; column < end; column += most_columns) {
          const Tile part{row, column, rows, std::min(most_columns, end - column)};
          for_each_depth(product.k, most_depth, [&](std::int64_t begin, std::int64_t depth) {
            pack_transposed(product.a + row * product.a_stride + begin, product.a_stride, rows,
                            depth, packed.data());
            multiply_transposed(product, part, begin, depth, packed.data(), ct.data());
          });
          unpack_transposed(ct.data(), padded, part, product.c_stride, product.added, product.c);
        }
      });
}

/// Whether a product has so many rows that it copies those of b instead.
template <class T>
bool has_many_rows(const ThinProduct<T>& product) {
  return product.n >= panel<T> && product.m >= std::min(product.n, 2 * most_transposed_rows);
}

/// Rows that the next panel of b^T is made of: of this tile's columns or, after all of those, of
/// its next k.
template <class T>
struct NextPanel {
  NextPanel(const ThinProduct<T>& product, const Tile& tile, std::int64_t column,
            std::int64_t begin, std::int64_t depth) {
    const std::int64_t left = tile.column + tile.columns - column - panel<T>;
    if (left > 0) {
      at = product.b + (column + panel<T>)*product.b_stride + begin;
      rows = std::min<std::int64_t>(panel<T>, left);
    } else if (begin + depth < product.k) {
      at = product.b + tile.column * product.b_stride + begin + depth;
      rows = std::min<std::int64_t>(panel<T>, tile.columns);
    }
  }
  const T* at = nullptr;
  std::int64_t rows = 0;
};

/// The rows of a and a panel of b^T. Of the rows that the next panel is made of, every block of
/// rows of a fetches a few.
template <class T>
void multiply_by_panel(const Tile& tile, std::int64_t columns, const NextPanel<T>& next,
                       Block<T>& block) {
  constexpr std::int64_t fetched = 4;
  constexpr Plan fetching{.x_along_k = true,
                          .ahead = Plan::operand,
                          .steps = static_cast<int>(line<T>),
                          .lines = static_cast<std::size_t>(fetched)};
  block.round_stride = line<T>;
  for_each_row_block(tile, block, [&](std::int64_t rows, std::int64_t part) {
    if (columns < panel<T>) {
      multiply_edge<plain_plan>(rows, columns, block);
    } else if ((part + 1) * fetched <= next.rows) {
      block.ahead = next.at + part * fetched * block.line_stride;
      block.rounds = block.k;
      multiply<fetching, most_vectors>(rows, block);
    } else {
      multiply<plain_plan, most_vectors>(rows, block);
    }
  });
}

/// Of many rows.
template <class T>
void compute_by_panels(const ThinProduct<T>& product, const Tile& tile) {
  alignas(line_bytes) std::array<T, static_cast<std::size_t>(most_k * panel<T>)> packed;
  const std::int64_t end = tile.column + tile.columns;
  for_each_depth(product.k, most_k, [&](std::int64_t begin, std::int64_t depth) {
    for (std::int64_t column = tile.column; column < end; column += panel<T>) {
      const std::int64_t columns = std::min<std::int64_t>(panel<T>, end - column);
      pack_transposed(product.b + column * product.b_stride + begin, product.b_stride, columns,
                      depth, packed.data());
      Block<T> block{depth,
                     product.a + begin,
                     product.a_stride,
                     packed.data(),
                     rounded_up(columns, width<T>),
                     product.c + column,
                     product.c_stride,
                     product.added || begin > 0};
      block.line_stride = product.b_stride;
      multiply_by_panel(tile, columns, NextPanel<T>(product, tile, column, begin, depth), block);
    }
  });
}

template <class T>
void compute_second_transposed(const ThinProduct<T>& product, const Tile& tile) {
  if (has_many_rows(product)) {
    compute_by_panels(product, tile);
  } else {
    compute_transposed(product, tile);
  }
}

}  // namespace zygos::ops::thin
