// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/split_product.hpp"

#include "ops/parts.hpp"
#include "ops/thin_kernel.hpp"
#include "ops/tile_kernel.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace zygos::ops {
namespace {

using namespace thin;

/// k of a tile. A word holds numbers half of that apart, so that words are made of whole vectors.
constexpr std::int64_t step_k = 2 * tile_side;
/// What is cut up at a time: rows of a stay in the second cache, columns of b nearly in the first.
constexpr std::int64_t most_k = 256;
constexpr std::int64_t most_rows_cut = 256;
constexpr std::int64_t most_columns_cut = 64;

using Halves = std::uint16_t;
typedef std::uint32_t WordVector __attribute__((vector_size(simd_bytes)));
using CutRows = std::array<Halves, static_cast<std::size_t>(most_rows_cut* most_k * 3)>;
using CutColumns = std::array<Halves, static_cast<std::size_t>(most_columns_cut* most_k * 3)>;
/// Floats of a tile.
using Patch = std::array<float, static_cast<std::size_t>(tile_numbers)>;

/// An operand: `count` rows of a, or columns of b, over `depth` of k. Numbers of a row of memory
/// are neighbours along k, or along the other extent.
struct Operand {
  const float* at;
  std::int64_t stride;
  std::int64_t count;
  std::int64_t depth;
  bool along_k;

  const float* from(std::int64_t index, std::int64_t k) const {
    return along_k ? at + index * stride + k : at + k * stride + index;
  }
};

/// Where the floats of a tile are: rows of sixteen for the lower and the upper halves of words.
struct Pairs {
  const float* lower;
  const float* upper;
  std::int64_t stride;
};

/// out, three tiles = the parts of 16 x 16 pairs. Rounded by adding half of what is cut off, but
/// for the last part: nothing is cut off of that, and numbers that are none stay so.
void cut(const Pairs& pairs, Halves* out) {
  const WordVector upper_bits = WordVector{} + 0xFFFF0000U;
  for (std::int64_t i = 0; i < tile_side; ++i, out += 2 * tile_side) {
    for (std::int64_t j = 0; j < tile_side; j += width<float>) {
      Floats low = load(pairs.lower + i * pairs.stride + j);
      Floats high = load(pairs.upper + i * pairs.stride + j);
      unrolled<3>([&](auto part) __attribute__((always_inline)) {
        constexpr std::uint32_t half = part < 2 ? 0x8000U : 0U;
        const WordVector low_bits = ((WordVector)low + half) & upper_bits;
        const WordVector high_bits = ((WordVector)high + half) & upper_bits;
        const WordVector words = low_bits >> 16 | high_bits;
        std::memcpy(out + part * tile_numbers + 2 * j, &words, sizeof words);
        low -= (Floats)low_bits;
        high -= (Floats)high_bits;
      });
    }
  }
}

/// The square of floats turned, into rows of sixteen.
void turn(const float* from, std::int64_t stride, float* to) {
  constexpr std::int64_t w = width<float>;
  for (std::int64_t i = 0; i < tile_side; i += w) {
    for (std::int64_t j = 0; j < tile_side; j += w) {
      transpose_square(from + i * stride + j, stride, to + j * tile_side + i, tile_side);
    }
  }
}

/// One tile of an operand, from (index, k) on. `k_in_rows`: whether a row of the tile is along k,
/// as a's are, or across, as b's are.
template <bool k_in_rows>
void cut_tile(const Operand& operand, std::int64_t index, std::int64_t k, Halves* out) {
  alignas(line_bytes) Patch edge;
  alignas(line_bytes) Patch turned;
  const std::int64_t count = std::min(tile_side, operand.count - index);
  const std::int64_t depth = std::min(step_k, operand.depth - k);
  const float* from = operand.from(index, k);
  std::int64_t stride = operand.stride;
  if (count < tile_side || depth < step_k) {
    edge.fill(0.0F);
    const std::int64_t rows = operand.along_k ? count : depth;
    const std::int64_t columns = operand.along_k ? depth : count;
    const std::int64_t width = operand.along_k ? step_k : tile_side;
    for (std::int64_t row = 0; row < rows; ++row) {
      std::copy_n(from + row * stride, columns, edge.data() + row * width);
    }
    from = edge.data();
    stride = width;
  }
  // The second half of k.
  const float* const next = operand.along_k ? from + tile_side : from + tile_side * stride;
  if (operand.along_k == k_in_rows) {
    return cut({from, next, stride}, out);
  }
  constexpr std::int64_t square = tile_side * tile_side;
  turn(from, stride, turned.data());
  turn(next, stride, turned.data() + square);
  cut({turned.data(), turned.data() + square, tile_side}, out);
}

/// Tiles of an operand: step after step of k for the first sixteen rows or columns, then the next.
/// They are cut in the order of memory.
template <bool k_in_rows>
void cut_operand(const Operand& operand, Halves* out) {
  const std::int64_t steps = divided_up(operand.depth, step_k);
  const std::int64_t tiles = divided_up(operand.count, tile_side);
  for (std::int64_t i = 0; i < steps * tiles; ++i) {
    const std::int64_t tile = operand.along_k ? i / steps : i % tiles;
    const std::int64_t step = operand.along_k ? i % steps : i / tiles;
    cut_tile<k_in_rows>(operand, tile * tile_side, step * step_k,
                        out + (tile * steps + step) * split_numbers);
  }
}

/// A block of up to 32 x 32 results. One that does not end with tiles is computed beside c.
void multiply_block(const Tiles& tiles, std::int64_t rows, std::int64_t columns, SplitBlock block) {
  if (rows % tile_side == 0 && columns % tile_side == 0) {
    return multiply_tiles(tiles, rows, columns, block);
  }
  constexpr std::int64_t side = 2 * tile_side;
  alignas(line_bytes) std::array<float, static_cast<std::size_t>(side * side)> beside{};
  float* const c = block.c;
  const std::int64_t stride = block.c_stride;
  for (std::int64_t row = 0; row < rows && block.added; ++row) {
    std::copy_n(c + row * stride, columns, beside.data() + row * side);
  }
  block.c = beside.data();
  block.c_stride = side;
  multiply_tiles(tiles, rows, columns, block);
  for (std::int64_t row = 0; row < rows; ++row) {
    std::copy_n(beside.data() + row * side, columns, c + row * stride);
  }
}

/// Asks for a block of results that is computed next. Few products of many results wait for memory
/// more than they work, the more so as each line lies in another row.
void expect(const float* c, std::int64_t stride, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t line_numbers = line<float>;
  for (std::int64_t row = 0; row < rows; ++row, c += stride) {
    for (std::int64_t column = 0; column < columns; column += line_numbers) {
      __builtin_prefetch(c + column, 1, 3);
    }
  }
}

/// Rows and columns that have been cut.
void multiply_cut(const Tiles& tiles, std::int64_t rows, std::int64_t columns,
                  const SplitBlock& whole) {
  constexpr std::int64_t side = 2 * tile_side;
  const std::int64_t next = whole.steps * split_numbers / tile_side;  // a row's or column's share
  for (std::int64_t row = 0; row < rows; row += side) {
    for (std::int64_t column = 0; column < columns; column += side) {
      SplitBlock block = whole;
      block.x += row * next;
      block.y += column * next;
      block.c += row * whole.c_stride + column;
      if (column + side < columns) {
        expect(block.c + side, block.c_stride, std::min(side, rows - row),
               std::min(side, columns - column - side));
      } else if (row + side < rows) {
        expect(whole.c + (row + side) * whole.c_stride, whole.c_stride,
               std::min(side, rows - row - side), std::min(side, columns));
      }
      multiply_block(tiles, std::min(side, rows - row), std::min(side, columns - column), block);
    }
  }
}

/// Up to `most` rows or columns of an operand from `index` on, over up to most_k from `k` on.
Operand part_of(const Operand& whole, std::int64_t index, std::int64_t most, std::int64_t k) {
  return {whole.from(index, k), whole.stride, std::min(most, whole.count - index),
          std::min(most_k, whole.depth - k), whole.along_k};
}

/// Cycles, about, as measured: of a tile's worth of rows and of columns to be cut up, of a tile of
/// results besides, and of the products of two tiles; and multiplications of floats in a cycle.
struct Cycles {
  double rows;
  double columns;
  double results;
};
constexpr Cycles cycles_of(ProductForm form) {
  switch (form) {
    case ProductForm::plain:
      return {150.0, 350.0, 0.0};
    case ProductForm::first_transposed:
      return {20.0, 20.0, 120.0};
    default:
      return {50.0, 460.0, 15.0};
  }
}
constexpr double product_cycles = 145.0;
/// Of a tile of a^T b's results that come from behind the second cache: a weight's gradient,
/// mostly. The thin kernel asks for whole rows of them early, and waits less.
constexpr double far_results_cycles = 350.0;
constexpr std::int64_t near_results = (std::int64_t{1} << 20) / 4;
constexpr double floats_per_cycle = 29.0;

/// Of an extent that is cut into as few parts of about the same size as have `most` at most.
std::int64_t even_part(std::int64_t extent, std::int64_t most) {
  const std::int64_t parts = std::max<std::int64_t>(divided_up(extent, most), 1);
  return std::max(rounded_up(divided_up(extent, parts), tile_side), tile_side);
}

}  // namespace

bool can_split() { return has_tiles(); }

bool split_pays(ProductForm form, std::int64_t m, std::int64_t n, std::int64_t k) {
  if (m < tile_side || n < tile_side || k < tile_side || !can_split()) {
    return false;
  }
  const auto down = static_cast<double>(divided_up(m, tile_side));
  const auto across = static_cast<double>(divided_up(n, tile_side));
  const auto deep = static_cast<double>(divided_up(k, step_k));
  Cycles cycles = cycles_of(form);
  if (form == ProductForm::first_transposed && m * n > near_results) {
    cycles.results = far_results_cycles;
  }
  const double of_step =
      down * cycles.rows + across * cycles.columns + down * across * product_cycles;
  return deep * of_step + down * across * cycles.results <
         static_cast<double>(m * n * k) / floats_per_cycle;
}

Tiling split_tiling(std::int64_t m, std::int64_t n, std::int64_t threads) {
  constexpr std::int64_t most_columns = 1024;  // of c, which stay in the second cache
  constexpr std::int64_t least = 64;
  const std::int64_t enough = threads == 1 ? 1 : 2 * threads;
  std::int64_t rows = even_part(m, most_rows_cut);
  std::int64_t columns = even_part(n, most_columns);
  while (divided_up(m, rows) * divided_up(n, columns) < enough && std::max(rows, columns) > least) {
    std::int64_t& longer = rows > columns ? rows : columns;
    longer = rounded_up(divided_up(longer, 2), tile_side);
  }
  return {m, n, Tiling::Extents{rows, columns}};
}

void split_multiply(const StridedProduct<float>& product) {
  alignas(line_bytes) CutRows cut_rows;
  alignas(line_bytes) CutColumns cut_columns;
  Tiles tiles;
  tiles.shape(tile_side, tile_side);
  const auto depth = static_cast<std::int64_t>(product.k);
  const auto stride = static_cast<std::int64_t>(product.c_stride);
  const Operand a{product.a, static_cast<std::int64_t>(product.a_stride),
                  static_cast<std::int64_t>(product.m), depth,
                  product.form != ProductForm::first_transposed};
  const Operand b{product.b, static_cast<std::int64_t>(product.b_stride),
                  static_cast<std::int64_t>(product.n), depth,
                  product.form == ProductForm::second_transposed};
  for (std::int64_t row = 0; row < a.count; row += most_rows_cut) {
    for (std::int64_t k = 0; k < depth; k += most_k) {
      const Operand rows = part_of(a, row, most_rows_cut, k);
      cut_operand<true>(rows, cut_rows.data());
      for (std::int64_t column = 0; column < b.count; column += most_columns_cut) {
        const Operand columns = part_of(b, column, most_columns_cut, k);
        cut_operand<false>(columns, cut_columns.data());
        multiply_cut(tiles, rows.count, columns.count,
                     SplitBlock{.steps = divided_up(rows.depth, step_k),
                                .x = cut_rows.data(),
                                .y = cut_columns.data(),
                                .c = product.c + row * stride + column,
                                .c_stride = stride,
                                .added = product.added || k > 0});
      }
    }
  }
}

}  // namespace zygos::ops
