// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/host/bf16x3_gemm.hpp"

#include "ops/common/blocking.hpp"
#include "ops/gemm/microkernel/amx.hpp"
#include "ops/gemm/microkernel/fma.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace zygos::ops {
namespace {

using namespace microkernel;

/// k of a tile. A word holds elements half of that apart, so that words are made of whole vectors.
constexpr std::int64_t step_k = 2 * amx_side;
/// What is split at a time: rows of a stay in the L2 cache, columns of b nearly in L1.
constexpr std::int64_t max_k = 256;
constexpr std::int64_t max_rows_cut = 256;
constexpr std::int64_t max_columns_cut = 64;

using Bf16Bits = std::uint16_t;
typedef std::uint32_t WordVector __attribute__((vector_size(simd_bytes)));
using CutRows = std::array<Bf16Bits, static_cast<std::size_t>(max_rows_cut* max_k * 3)>;
using CutColumns = std::array<Bf16Bits, static_cast<std::size_t>(max_columns_cut* max_k * 3)>;
/// Floats of a tile.
using Patch = std::array<float, static_cast<std::size_t>(amx_tile_elements)>;

/// An operand: `count` rows of a, or columns of b, over `depth` of k. Elements of a row of memory
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
/// for the last part: nothing is cut off of that, and NaN stays NaN.
void cut(const Pairs& pairs, Bf16Bits* out) {
  const WordVector upper_bits = WordVector{} + 0xFFFF0000U;
  for (std::int64_t i = 0; i < amx_side; ++i, out += 2 * amx_side) {
    for (std::int64_t j = 0; j < amx_side; j += width<float>) {
      Floats low = load(pairs.lower + i * pairs.stride + j);
      Floats high = load(pairs.upper + i * pairs.stride + j);
      unrolled<3>([&](auto part) __attribute__((always_inline)) {
        constexpr std::uint32_t half = part < 2 ? 0x8000U : 0U;
        const WordVector low_bits = ((WordVector)low + half) & upper_bits;
        const WordVector high_bits = ((WordVector)high + half) & upper_bits;
        const WordVector words = low_bits >> 16 | high_bits;
        std::memcpy(out + part * amx_tile_elements + 2 * j, &words, sizeof words);
        low -= (Floats)low_bits;
        high -= (Floats)high_bits;
      });
    }
  }
}

/// Transposes a square of floats into rows of sixteen.
void transpose_tile(const float* from, std::int64_t stride, float* to) {
  constexpr std::int64_t w = width<float>;
  for (std::int64_t i = 0; i < amx_side; i += w) {
    for (std::int64_t j = 0; j < amx_side; j += w) {
      transpose_square(from + i * stride + j, stride, to + j * amx_side + i, amx_side);
    }
  }
}

/// One tile of an operand, from (index, k) on. `k_in_rows`: whether a row of the tile is along k,
/// as a's are, or across, as b's are.
template <bool k_in_rows>
void cut_tile(const Operand& operand, std::int64_t index, std::int64_t k, Bf16Bits* out) {
  alignas(line_bytes) Patch edge;
  alignas(line_bytes) Patch transposed;
  const std::int64_t count = std::min(amx_side, operand.count - index);
  const std::int64_t depth = std::min(step_k, operand.depth - k);
  const float* from = operand.from(index, k);
  std::int64_t stride = operand.stride;
  if (count < amx_side || depth < step_k) {
    edge.fill(0.0F);
    const std::int64_t rows = operand.along_k ? count : depth;
    const std::int64_t columns = operand.along_k ? depth : count;
    const std::int64_t width = operand.along_k ? step_k : amx_side;
    for (std::int64_t row = 0; row < rows; ++row) {
      std::copy_n(from + row * stride, columns, edge.data() + row * width);
    }
    from = edge.data();
    stride = width;
  }
  // The second half of k.
  const float* const next = operand.along_k ? from + amx_side : from + amx_side * stride;
  if (operand.along_k == k_in_rows) {
    return cut({from, next, stride}, out);
  }
  constexpr std::int64_t square = amx_side * amx_side;
  transpose_tile(from, stride, transposed.data());
  transpose_tile(next, stride, transposed.data() + square);
  cut({transposed.data(), transposed.data() + square, amx_side}, out);
}

/// AMX tiles of an operand: step after step of k for the first sixteen rows or columns, then the
/// next. They are cut in the order of memory.
template <bool k_in_rows>
void cut_operand(const Operand& operand, Bf16Bits* out) {
  const std::int64_t steps = ceil_div(operand.depth, step_k);
  const std::int64_t tiles = ceil_div(operand.count, amx_side);
  for (std::int64_t i = 0; i < steps * tiles; ++i) {
    const std::int64_t tile = operand.along_k ? i / steps : i % tiles;
    const std::int64_t step = operand.along_k ? i % steps : i / tiles;
    cut_tile<k_in_rows>(operand, tile * amx_side, step * step_k,
                        out + (tile * steps + step) * bf16x3_elements);
  }
}

/// A block of up to 32 x 32 results. One that does not end with tiles is computed beside c.
void multiply_block(const AmxTiles& tiles, std::int64_t rows, std::int64_t columns,
                    Bf16x3Args block) {
  if (rows % amx_side == 0 && columns % amx_side == 0) {
    return multiply_amx(tiles, rows, columns, block);
  }
  constexpr std::int64_t side = 2 * amx_side;
  alignas(line_bytes) std::array<float, static_cast<std::size_t>(side * side)> beside{};
  float* const c = block.c;
  const std::int64_t stride = block.c_stride;
  for (std::int64_t row = 0; row < rows && block.added; ++row) {
    std::copy_n(c + row * stride, columns, beside.data() + row * side);
  }
  block.c = beside.data();
  block.c_stride = side;
  multiply_amx(tiles, rows, columns, block);
  for (std::int64_t row = 0; row < rows; ++row) {
    std::copy_n(beside.data() + row * side, columns, c + row * stride);
  }
}

/// Prefetches a block of results that is computed next. Few products of many results wait for
/// memory more than they work, the more so as each line lies in another row.
void expect(const float* c, std::int64_t stride, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t line_numbers = line<float>;
  for (std::int64_t row = 0; row < rows; ++row, c += stride) {
    for (std::int64_t column = 0; column < columns; column += line_numbers) {
      __builtin_prefetch(c + column, 1, 3);
    }
  }
}

/// Rows and columns that have been split.
void multiply_cut(const AmxTiles& tiles, std::int64_t rows, std::int64_t columns,
                  const Bf16x3Args& whole) {
  constexpr std::int64_t side = 2 * amx_side;
  const std::int64_t next = whole.steps * bf16x3_elements / amx_side;  // a row's or column's share
  for (std::int64_t row = 0; row < rows; row += side) {
    for (std::int64_t column = 0; column < columns; column += side) {
      Bf16x3Args block = whole;
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

/// Up to `limit` rows or columns of an operand from `index` on, over up to max_k from `k` on.
Operand part_of(const Operand& whole, std::int64_t index, std::int64_t limit, std::int64_t k) {
  return {whole.from(index, k), whole.stride, std::min(limit, whole.count - index),
          std::min(max_k, whole.depth - k), whole.along_k};
}

/// Cycles, about, as measured: of a tile's worth of rows and of columns to be split, of a tile of
/// results besides, and of the products of two tiles; and multiplications of floats in a cycle.
struct Cycles {
  double rows;
  double columns;
  double results;
};
constexpr Cycles cycles_of(GemmForm form) {
  switch (form) {
    case GemmForm::nn:
      return {150.0, 350.0, 0.0};
    case GemmForm::tn:
      return {20.0, 20.0, 120.0};
    default:
      return {50.0, 460.0, 15.0};
  }
}
constexpr double product_cycles = 145.0;
/// Of a tile of a^T b's results that come from behind the L2 cache: a weight's gradient,
/// mostly. The FMA microkernel prefetches whole rows of them, and waits less.
constexpr double far_results_cycles = 350.0;
constexpr std::int64_t near_results = (std::int64_t{1} << 20) / 4;
constexpr double floats_per_cycle = 29.0;

/// Of an extent that is cut into as few parts of about the same size as have at most `limit`.
std::int64_t even_part(std::int64_t extent, std::int64_t limit) {
  const std::int64_t parts = std::max<std::int64_t>(ceil_div(extent, limit), 1);
  return std::max(round_up(ceil_div(extent, parts), amx_side), amx_side);
}

}  // namespace

bool has_bf16x3_gemm() { return has_amx(); }

bool bf16x3_is_profitable(GemmForm form, std::int64_t m, std::int64_t n, std::int64_t k) {
  if (m < amx_side || n < amx_side || k < amx_side || !has_bf16x3_gemm()) {
    return false;
  }
  const auto down = static_cast<double>(ceil_div(m, amx_side));
  const auto across = static_cast<double>(ceil_div(n, amx_side));
  const auto deep = static_cast<double>(ceil_div(k, step_k));
  Cycles cycles = cycles_of(form);
  if (form == GemmForm::tn && m * n > near_results) {
    cycles.results = far_results_cycles;
  }
  const double of_step =
      down * cycles.rows + across * cycles.columns + down * across * product_cycles;
  return deep * of_step + down * across * cycles.results <
         static_cast<double>(m * n * k) / floats_per_cycle;
}

GemmTiling bf16x3_tiling(std::int64_t m, std::int64_t n, std::int64_t threads) {
  constexpr std::int64_t max_columns = 1024;  // of c, which stay in the L2 cache
  constexpr std::int64_t least = 64;
  const std::int64_t enough = threads == 1 ? 1 : 2 * threads;
  std::int64_t rows = even_part(m, max_rows_cut);
  std::int64_t columns = even_part(n, max_columns);
  while (ceil_div(m, rows) * ceil_div(n, columns) < enough && std::max(rows, columns) > least) {
    std::int64_t& longer = rows > columns ? rows : columns;
    longer = round_up(ceil_div(longer, 2), amx_side);
  }
  return {m, n, GemmTiling::Extents{rows, columns}};
}

void bf16x3_gemm(const StridedGemm<float>& product) {
  alignas(line_bytes) CutRows cut_rows;
  alignas(line_bytes) CutColumns cut_columns;
  AmxTiles tiles;
  tiles.shape(amx_side, amx_side);
  const auto depth = static_cast<std::int64_t>(product.k);
  const auto stride = static_cast<std::int64_t>(product.c_stride);
  const Operand a{product.a, static_cast<std::int64_t>(product.a_stride),
                  static_cast<std::int64_t>(product.m), depth, product.form != GemmForm::tn};
  const Operand b{product.b, static_cast<std::int64_t>(product.b_stride),
                  static_cast<std::int64_t>(product.n), depth, product.form == GemmForm::nt};
  for (std::int64_t row = 0; row < a.count; row += max_rows_cut) {
    for (std::int64_t k = 0; k < depth; k += max_k) {
      const Operand rows = part_of(a, row, max_rows_cut, k);
      cut_operand<true>(rows, cut_rows.data());
      for (std::int64_t column = 0; column < b.count; column += max_columns_cut) {
        const Operand columns = part_of(b, column, max_columns_cut, k);
        cut_operand<false>(columns, cut_columns.data());
        multiply_cut(tiles, rows.count, columns.count,
                     Bf16x3Args{.steps = ceil_div(rows.depth, step_k),
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
