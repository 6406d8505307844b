// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What is copied for the kernels lies on the stack, no more than 256 KiB at a time.
#include "ops/thin_product.hpp"

#include "ops/parts.hpp"
#include "ops/thin_kernel.hpp"

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

/// out (k, panel) = in (k, columns), with zeros behind
template <class T>
void pack_panel(std::int64_t k, const T* in, std::int64_t stride, std::int64_t columns, T* out) {
  for (std::int64_t i = 0; i < k; ++i, in += stride, out += panel<T>) {
    if (columns == panel<T>) {
      std::copy_n(in, panel<T>, out);
    } else {
      std::fill(std::copy_n(in, columns, out), out + panel<T>, T(0));
    }
  }
}

/// A block of fewer columns than a panel, with what does not belong to c computed beside it.
template <Plan plan, class T>
void multiply_edge(std::int64_t rows, std::int64_t columns, Block<T> block) {
  std::array<T, static_cast<std::size_t>(most_rows * panel<T>)> beside;
  T* const c = block.c;
  const std::int64_t stride = block.c_stride;
  const bool added = block.added;
  block.c = beside.data();
  block.c_stride = panel<T>;
  block.added = false;
  multiply_vectors<plan>(divided_up(columns, width<T>), rows, block);
  for (std::int64_t i = 0; i < rows; ++i) {
    const T* const from = beside.data() + i * panel<T>;
    T* const to = c + i * stride;
    for (std::int64_t j = 0; j < columns; ++j) {
      to[j] = added ? to[j] + from[j] : from[j];
    }
  }
}

// ---------------------------------------------------------------- a b

constexpr Plan plain_plan{.x_along_k = true};
template <class T>
constexpr std::int64_t panel_lines = panel<T> / line<T>;

/// f(rows, part) for the blocks of a panel's rows, with `block` moved to them, which is changed in
/// place: a copy of what was written just before waits for all results before it to be written.
template <class T, class F>
void for_each_row_block(const Tile& tile, Block<T>& block, const F& f) {
  const T* const x = block.x;
  T* const c = block.c;
  for_each_part(tile.row, tile.rows, most_rows,
                [&](std::int64_t row, std::int64_t rows, std::int64_t part) {
                  block.x = x + row * block.x_stride;
                  block.c = c + row * block.c_stride;
                  f(rows, part);
                });
}

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

/// Blocks of rows and panels of b that have been copied. A result is fetched while the block before
/// it is computed: it is all there is to read from far away.
template <class T>
void multiply_packed(const ThinProduct<T>& product, const Tile& tile, std::int64_t begin,
                     std::int64_t depth, const T* packed) {
  constexpr Plan plan{.x_along_k = false,
                      .ahead = Plan::result,
                      .steps = 2,
                      .lines = static_cast<std::size_t>(panel_lines<T>)};
  for_each_part(tile.row, tile.rows, most_rows,
                [&](std::int64_t row, std::int64_t rows, std::int64_t) {
                  T* const c = product.c + row * product.c_stride + tile.column;
                  for (std::int64_t column = 0; column < tile.columns; column += panel<T>) {
                    Block<T> block{depth,
                                   product.a + begin * product.a_stride + row,
                                   product.a_stride,
                                   packed + column * depth,
                                   panel<T>,
                                   c + column,
                                   product.c_stride,
                                   product.added || begin > 0};
                    if (tile.columns - column < panel<T>) {
                      multiply_edge<plan>(rows, tile.columns - column, block);
                      continue;
                    }
                    const bool last = tile.columns - column < 2 * panel<T>;
                    block.ahead = last ? c + rows * product.c_stride : c + column + panel<T>;
                    block.line_stride = line<T>;
                    block.round_stride = product.c_stride;
                    block.rounds = last ? std::min(rows, product.m - row - rows) : rows;
                    multiply<plan, most_vectors>(rows, block);
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
      for (std::int64_t j = 0; j < part.columns; j += panel<T>) {
        pack_panel(depth, product.b + begin * product.b_stride + column + j, product.b_stride,
                   std::min<std::int64_t>(panel<T>, part.columns - j), packed.data() + j * depth);
      }
      multiply_packed(product, part, begin, depth, packed.data());
    });
  }
}

// ---------------------------------------------------------------- a b^T

/// f(first row, vectors) for the panels of `rows` rows, which are a multiple of a vector.
template <class T, class F>
void for_each_panel(std::int64_t rows, const F& f) {
  for (std::int64_t row = 0; row < rows; row += panel<T>) {
    f(row, std::min<std::int64_t>(most_vectors, (rows - row) / width<T>));
  }
}

/// out = in (rows, depth)^T, panel after panel, with zeros for the rows up to a vector
template <class T>
void pack_transposed(const T* in, std::int64_t stride, std::int64_t rows, std::int64_t depth,
                     T* out) {
  constexpr std::int64_t w = width<T>;
  for_each_panel<T>(rounded_up(rows, w), [&](std::int64_t first, std::int64_t vectors) {
    for (std::int64_t v = 0; v < vectors; ++v) {
      const std::int64_t row = first + v * w;
      const std::int64_t there = std::min(w, rows - row);
      for (std::int64_t k = 0; k < depth; k += w) {
        const T* const from = in + row * stride + k;
        T* const to = out + first * depth + k * vectors * w + v * w;
        const std::int64_t count = std::min(w, depth - k);
        if (there == w && count == w) {
          transpose_square(from, stride, to, vectors * w);
          continue;
        }
        transpose(from, stride, there, count, to, vectors * w);
        for (std::int64_t i = 0; i < count; ++i) {
          std::fill(to + i * vectors * w + there, to + i * vectors * w + w, T(0));
        }
      }
    }
  });
}

/// c (rows, columns) [+]= ct (columns, rows)^T
template <class T>
void unpack_transposed(const T* ct, std::int64_t ct_stride, const Tile& tile, std::int64_t stride,
                       bool added, T* c) {
  constexpr std::int64_t w = width<T>;
  alignas(line_bytes) std::array<T, static_cast<std::size_t>(w * w)> square;
  for (std::int64_t j = 0; j < tile.columns; j += w) {
    for (std::int64_t i = 0; i < tile.rows; i += w) {
      const T* const from = ct + j * ct_stride + i;
      T* const to = c + (tile.row + i) * stride + tile.column + j;
      const std::int64_t rows = std::min(w, tile.rows - i);
      const std::int64_t columns = std::min(w, tile.columns - j);
      if (!added && rows == w && columns == w) {
        transpose_square(from, ct_stride, to, stride);
        continue;
      }
      transpose(from, ct_stride, columns, rows, square.data(), w);
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t q = 0; q < columns; ++q) {
          T& number = to[r * stride + q];
          number = added ? number + square[static_cast<std::size_t>(r * w + q)]
                         : square[static_cast<std::size_t>(r * w + q)];
        }
      }
    }
  }
}

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

template <class T>
void compute_second_transposed(const ThinProduct<T>& product, const Tile& tile) {
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
