// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What is copied for the kernels lies on the stack, no more than 256 KiB at a time.
#include "ops/thin_product.hpp"

#include "ops/parts.hpp"
#include "ops/thin_copies.hpp"
#include "ops/thin_kernel.hpp"
#include "ops/thin_rows.hpp"
#include "ops/thin_second_transposed.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace zygos::ops {
namespace {

using namespace thin;

/// Columns of a tile that share what is copied of a's rows, and rows that share what is read of b,
/// from afar, if there are as many: to copy a number takes as long as some ten products.
constexpr std::int64_t sharing_columns = 192;
constexpr std::int64_t sharing_rows = 384;
/// Rows of a tile of a b^T whose results stay in the second cache.
constexpr std::int64_t most_rows_of_tile = 512;

// ---------------------------------------------------------------- a b

template <class T>
constexpr std::int64_t panel_lines = panel<T> / line<T>;

/// Blocks of rows and one panel of b. The first block stores the panel for the others; the lines of
/// the panel that comes next are fetched by those: by one of few, else each fetches its share of
/// rows, whole ones, for a row may lie on a page of its own.
template <class T>
void multiply_panel(const Tile& tile, Block<T>& block, T* packed) {
  constexpr Plan first{.x_along_k = true, .packs = true};
  constexpr auto sharers = static_cast<std::int64_t>(panel_lines<T>);
  constexpr Plan share{.x_along_k = true,
                       .ahead = Plan::operand,
                       .steps = static_cast<int>(sharers),
                       .lines = static_cast<std::size_t>(sharers)};
  constexpr Plan all_lines{
      .x_along_k = true, .ahead = Plan::operand, .lines = static_cast<std::size_t>(panel_lines<T>)};
  const std::int64_t parts = divided_up(tile.rows, most_rows);
  const T* const ahead = block.ahead;
  const std::int64_t rounds = block.rounds;
  const std::int64_t most = divided_up(rounds, sharers);
  block.packed = packed;
  for_each_row_block(tile, block, [&](std::int64_t rows, std::int64_t part) {
    if (part == 1) {
      block.y = packed;
      block.y_stride = panel<T>;
    }
    if (parts == 1 || (part == 1 && parts <= sharers)) {
      multiply<all_lines, most_vectors>(rows, block);
    } else if (part == 0) {
      multiply<first, most_vectors>(rows, block);
    } else if (parts > sharers && part <= sharers) {
      const std::int64_t done = (part - 1) * most;
      block.ahead = ahead + done * block.round_stride;
      block.rounds = std::clamp<std::int64_t>(rounds - done, 0, most);
      multiply<share, most_vectors>(rows, block);
    } else {
      multiply<plain_plan, most_vectors>(rows, block);
    }
  });
}

template <class T>
void multiply_edge_panel(const Tile& tile, std::int64_t columns, Block<T>& block, T* packed) {
  pack_panel(block.k, block.y, block.y_stride, columns, packed);
  block.y = packed;
  block.y_stride = panel<T>;
  for_each_row_block(tile, block, [&](std::int64_t rows, std::int64_t) {
    multiply_edge<plain_plan>(rows, columns, block);
  });
}

template <class T>
void compute_plain(const ThinProduct<T>& product, const Tile& tile) {
  alignas(line_bytes) std::array<T, static_cast<std::size_t>(most_k * panel<T>)> packed;
  const std::int64_t end = tile.column + tile.columns;
  for_each_depth(product.k, most_k, [&](std::int64_t begin, std::int64_t depth) {
    for (std::int64_t column = tile.column; column < end; column += panel<T>) {
      Block<T> block{depth,
                     product.a + begin,
                     product.a_stride,
                     product.b + begin * product.b_stride + column,
                     product.b_stride,
                     product.c + column,
                     product.c_stride,
                     product.added || begin > 0};
      if (end - column < panel<T>) {
        multiply_edge_panel(tile, end - column, block, packed.data());
        continue;
      }
      block.line_stride = line<T>;
      block.round_stride = product.b_stride;
      if (column + panel<T> < end) {  // the next panel, the next k of this tile, the next tile
        block.ahead = block.y + panel<T>;
        block.rounds = depth;
      } else if (begin + depth < product.k) {
        block.ahead = product.b + (begin + depth) * product.b_stride + tile.column;
        block.rounds = std::min(depth, product.k - begin - depth);
      } else if (end < product.n) {
        block.ahead = product.b + end;
        block.rounds = depth;
      }
      multiply_panel(tile, block, packed.data());
    }
  });
}

// ---------------------------------------------------------------- a^T b

/// The first block of rows, which stores the panels for the others, and fetches the next one while
/// it multiplies one.
template <class T>
void multiply_and_store(const Tile& tile, Block<T>& block) {
  constexpr Plan plan{.x_along_k = false,
                      .packs = true,
                      .ahead = Plan::operand,
                      .lines = static_cast<std::size_t>(panel_lines<T>)};
  T* const c = block.c;
  const T* const b = block.y;
  block.line_stride = line<T>;
  block.round_stride = block.y_stride;
  T* packed = block.packed;
  for (std::int64_t column = 0; column < tile.columns; column += panel<T>) {
    const std::int64_t left = tile.columns - column;
    block.c = c + column;
    block.y = b + column;
    block.packed = packed + column * block.k;
    if (left < panel<T>) {
      pack_panel(block.k, block.y, block.y_stride, left, block.packed);
      block.y = block.packed;
      block.y_stride = panel<T>;
      multiply_edge<Plan{.x_along_k = false}>(tile.rows, left, block);
    } else {
      block.ahead = block.y + panel<T>;
      block.rounds = left < 2 * panel<T> ? 0 : block.k;
      multiply<plan, most_vectors>(tile.rows, block);
    }
  }
}

/// The others: a result is fetched while the block before it is computed, which is all there is to
/// read from far away.
template <class T>
void multiply_stored(const Tile& tile, std::int64_t rows_below, Block<T>& block) {
  constexpr Plan plan{.x_along_k = false,
                      .ahead = Plan::result,
                      .steps = 2,
                      .lines = static_cast<std::size_t>(panel_lines<T>)};
  T* const c = block.c;
  const T* const packed = block.y;
  block.line_stride = line<T>;
  block.round_stride = block.c_stride;
  for (std::int64_t column = 0; column < tile.columns; column += panel<T>) {
    const std::int64_t left = tile.columns - column;
    block.c = c + column;
    block.y = packed + column * block.k;
    if (left < panel<T>) {
      block.rounds = 0;
      multiply_edge<plan>(tile.rows, left, block);
      continue;
    }
    const bool last = left < 2 * panel<T>;
    block.ahead = last ? c + tile.rows * block.c_stride : block.c + panel<T>;
    block.rounds = last ? std::min(tile.rows, rows_below) : tile.rows;
    multiply<plan, most_vectors>(tile.rows, block);
  }
}

template <class T>
void multiply_panels(const ThinProduct<T>& product, const Tile& tile, std::int64_t begin,
                     std::int64_t depth, T* packed) {
  for_each_part(tile.row, tile.rows, most_rows,
                [&](std::int64_t row, std::int64_t rows, std::int64_t part) {
                  const Tile some{row, tile.column, rows, tile.columns};
                  Block<T> block{depth,
                                 product.a + begin * product.a_stride + row,
                                 product.a_stride,
                                 packed,
                                 panel<T>,
                                 product.c + row * product.c_stride + tile.column,
                                 product.c_stride,
                                 product.added || begin > 0};
                  if (part == 0) {
                    block.y = product.b + begin * product.b_stride + tile.column;
                    block.y_stride = product.b_stride;
                    block.packed = packed;
                    multiply_and_store(some, block);
                  } else {
                    multiply_stored(some, product.m - row - rows, block);
                  }
                });
}

template <class T>
void compute_first_transposed(const ThinProduct<T>& product, const Tile& tile) {
  alignas(line_bytes) Buffer<T> packed;
  const std::int64_t most_depth = std::clamp<std::int64_t>(product.k, 1, most_k);
  const std::int64_t most_columns = buffer_size<T> / most_depth / panel<T> * panel<T>;
  const std::int64_t end = tile.column + tile.columns;
  for (std::int64_t column = tile.column; column < end; column += most_columns) {
    const Tile part{tile.row, column, tile.rows, std::min(most_columns, end - column)};
    for_each_depth(product.k, most_k, [&](std::int64_t begin, std::int64_t depth) {
      multiply_panels(product, part, begin, depth, packed.data());
    });
  }
}

}  // namespace

template <class T>
bool ThinProduct<T>::pays() const {
  return has_fused_multiply_add && m > 0 && n > 0 && k > 0;
}

template <class T>
Tiling ThinProduct<T>::tiling(std::int64_t threads) const {
  // More tiles than threads, to even out their ends; one thread copies least with one tile. A plain
  // product copies nothing for its own, and narrow ones leave more of the second cache to it.
  const bool plain = form == ProductForm::plain;
  const std::int64_t tiles = threads == 1 ? 1 : (plain ? 8 : 4) * threads;
  if (form == ProductForm::first_transposed) {
    return tiling_over_rows(tiles, threads);
  }
  // What follows a plain product should find it in the cache.
  std::int64_t columns = std::min(rounded_up(divided_up(n, tiles), panel<T>),
                                  plain ? most_k : std::numeric_limits<std::int64_t>::max());
  std::int64_t down = 0;
  if (!plain && threads > 1 && columns < sharing_columns && m >= 2 * most_transposed_rows) {
    columns = std::min(rounded_up(n, panel<T>), sharing_columns);
    down = std::min(divided_up(tiles, divided_up(n, columns)), divided_up(m, most_transposed_rows));
  } else {
    // Columns alone may not give every thread as much: then all of them have a part of the rows.
    const std::int64_t across = divided_up(n, columns);
    down = across < tiles ? threads / std::gcd(across, threads) : 1;
    if (!plain && threads > 1) {
      down = std::max(down, divided_up(m, most_rows_of_tile));
    }
  }
  const std::int64_t rows = rounded_up(divided_up(m, down), plain ? most_rows : width<T>);
  return {m, n, Tiling::Extents{std::min(rows, m), columns}};
}

template <class T>
Tiling ThinProduct<T>::tiling_over_rows(std::int64_t tiles, std::int64_t threads) const {
  const std::int64_t few = 4 * most_rows;
  const std::int64_t down = divided_up(m, sharing_rows);
  const std::int64_t across = std::min(divided_up(tiles, down), n / (2 * panel<T>));
  if (threads > 1 && down * across >= tiles) {
    return {m, n,
            Tiling::Extents{rounded_up(divided_up(m, down), most_rows),
                            rounded_up(divided_up(n, across), panel<T>)}};
  }
  const std::int64_t rows = m < few * tiles ? rounded_up(divided_up(m, threads), most_rows)
                                            : rounded_up(divided_up(m, tiles), few);
  return {m, n, Tiling::Extents{rows, n}};
}

template <class T>
void ThinProduct<T>::compute(const Tile& tile) const {
  switch (form) {
    case ProductForm::plain:
      return compute_plain(*this, tile);
    case ProductForm::first_transposed:
      return compute_first_transposed(*this, tile);
    case ProductForm::second_transposed:
      return compute_second_transposed(*this, tile);
  }
}

template struct ThinProduct<float>;
template struct ThinProduct<double>;

}  // namespace zygos::ops
