// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What is copied for the kernels lies on the stack, no more than 256 KiB at a time.
#include "ops/thin_product.hpp"

#include "ops/parts.hpp"
#include "ops/thin_copies.hpp"
#include "ops/thin_kernel.hpp"
#include "ops/thin_rows.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace zygos::ops {
namespace {

using namespace thin;

/// k of a block of the forms that copy panels of b: 64 KiB of AVX-512's panel, a part of the second
/// cache.
constexpr std::int64_t most_k = 256;
/// Numbers of a buffer.
template <class T>
constexpr std::int64_t buffer_size = 128 * 1024 / static_cast<std::int64_t>(sizeof(T));
template <class T>
using Buffer = std::array<T, static_cast<std::size_t>(buffer_size<T>)>;
/// Rows of a that the second form transposes at a time.
constexpr std::int64_t most_transposed_rows = 128;
/// Rows or columns of a tile that share what is copied for it, if there are as many: to copy a
/// number takes as long as some ten products.
constexpr std::int64_t shared_extent = 192;

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

/// Blocks of rows and the panels of b. The first block stores the panels for the others and fetches
/// the panel that comes next; those fetch a result while the one before it is computed, which is
/// all there is to read from far away then.
template <class T>
void multiply_panels(const ThinProduct<T>& product, const Tile& tile, std::int64_t begin,
                     std::int64_t depth, T* packed) {
  constexpr auto lines = static_cast<std::size_t>(panel_lines<T>);
  constexpr Plan first{.x_along_k = false, .packs = true, .ahead = Plan::operand, .lines = lines};
  constexpr Plan others{.x_along_k = false, .ahead = Plan::result, .steps = 2, .lines = lines};
  const T* const b = product.b + begin * product.b_stride + tile.column;
  for_each_part(tile.row, tile.rows, most_rows,
                [&](std::int64_t row, std::int64_t rows, std::int64_t part_of_rows) {
                  T* const c = product.c + row * product.c_stride + tile.column;
                  for (std::int64_t column = 0; column < tile.columns; column += panel<T>) {
                    const std::int64_t left = tile.columns - column;
                    T* const panel_of_b = packed + column * depth;
                    Block<T> block{depth,
                                   product.a + begin * product.a_stride + row,
                                   product.a_stride,
                                   panel_of_b,
                                   panel<T>,
                                   c + column,
                                   product.c_stride,
                                   product.added || begin > 0};
                    block.line_stride = line<T>;
                    if (left < panel<T>) {
                      if (part_of_rows == 0) {
                        pack_panel(depth, b + column, product.b_stride, left, panel_of_b);
                      }
                      multiply_edge<others>(rows, left, block);
                    } else if (part_of_rows == 0) {
                      block.y = b + column;
                      block.y_stride = product.b_stride;
                      block.packed = panel_of_b;
                      block.ahead = b + column + panel<T>;
                      block.round_stride = product.b_stride;
                      block.rounds = left < 2 * panel<T> ? 0 : depth;
                      multiply<first, most_vectors>(rows, block);
                    } else {
                      const bool last = left < 2 * panel<T>;
                      block.ahead = last ? c + rows * product.c_stride : c + column + panel<T>;
                      block.round_stride = product.c_stride;
                      block.rounds = last ? std::min(rows, product.m - row - rows) : rows;
                      multiply<others, most_vectors>(rows, block);
                    }
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

// ---------------------------------------------------------------- a b^T

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

/// Of many rows, a panel of b^T after the other. Of the rows that the next panel is made of, every
/// block of rows of a fetches a few.
template <class T>
void compute_by_panels(const ThinProduct<T>& product, const Tile& tile) {
  alignas(line_bytes) std::array<T, static_cast<std::size_t>(most_k * panel<T>)> packed;
  constexpr std::int64_t fetched = 4;
  constexpr Plan fetching{.x_along_k = true,
                          .ahead = Plan::operand,
                          .steps = static_cast<int>(line<T>),
                          .lines = static_cast<std::size_t>(fetched)};
  const std::int64_t end = tile.column + tile.columns;
  for_each_depth(product.k, most_k, [&](std::int64_t begin, std::int64_t depth) {
    for (std::int64_t column = tile.column; column < end; column += panel<T>) {
      const std::int64_t columns = std::min<std::int64_t>(panel<T>, end - column);
      const T* const rows_of_b = product.b + column * product.b_stride + begin;
      pack_transposed(rows_of_b, product.b_stride, columns, depth, packed.data());
      Block<T> block{depth,
                     product.a + begin,
                     product.a_stride,
                     packed.data(),
                     rounded_up(columns, width<T>),
                     product.c + column,
                     product.c_stride,
                     product.added || begin > 0};
      const T* next = nullptr;
      std::int64_t next_rows = 0;
      if (column + columns < end) {  // the next panel, the next k of this tile
        next = rows_of_b + columns * product.b_stride;
        next_rows = std::min<std::int64_t>(panel<T>, end - column - columns);
      } else if (begin + depth < product.k) {
        next = product.b + tile.column * product.b_stride + begin + depth;
        next_rows = std::min<std::int64_t>(panel<T>, tile.columns);
      }
      block.line_stride = product.b_stride;
      block.round_stride = line<T>;
      for_each_row_block(tile, block, [&](std::int64_t rows, std::int64_t part) {
        if (columns < panel<T>) {
          multiply_edge<plain_plan>(rows, columns, block);
        } else if ((part + 1) * fetched <= next_rows) {
          block.ahead = next + part * fetched * product.b_stride;
          block.rounds = depth;
          multiply<fetching, most_vectors>(rows, block);
        } else {
          multiply<plain_plan, most_vectors>(rows, block);
        }
      });
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

}  // namespace

template <class T>
bool ThinProduct<T>::pays() const {
  return has_fused_multiply_add && m > 0 && n > 0 && k > 0;
}

template <class T>
Tiling ThinProduct<T>::tiling(std::int64_t threads) const {
  // More tiles than threads, to even out their ends; one thread copies least with one tile.
  const std::int64_t tiles = threads == 1 ? 1 : 4 * threads;
  if (form == ProductForm::first_transposed) {
    return tiling_over_rows(tiles, threads);
  }
  const bool plain = form == ProductForm::plain;
  // What follows a plain product should find it in the cache.
  std::int64_t columns = std::min(rounded_up(divided_up(n, tiles), panel<T>),
                                  plain ? most_k : std::numeric_limits<std::int64_t>::max());
  std::int64_t down = 0;
  if (!plain && threads > 1 && columns < shared_extent && m >= 2 * most_transposed_rows) {
    columns = std::min(rounded_up(n, panel<T>), shared_extent);
    down = std::min(divided_up(tiles, divided_up(n, columns)), divided_up(m, most_transposed_rows));
  } else {
    // Columns alone may not give every thread as much: then all of them have a part of the rows.
    const std::int64_t across = divided_up(n, columns);
    down = across < tiles ? threads / std::gcd(across, threads) : 1;
  }
  const std::int64_t rows = rounded_up(divided_up(m, down), plain ? most_rows : width<T>);
  return {m, n, Tiling::Extents{std::min(rows, m), columns}};
}

template <class T>
Tiling ThinProduct<T>::tiling_over_rows(std::int64_t tiles, std::int64_t threads) const {
  const std::int64_t few = 4 * most_rows;
  const std::int64_t down = divided_up(m, shared_extent);
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
