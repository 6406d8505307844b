// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Packed operands lie on the stack, no more than 256 KiB at a time.
#include "ops/gemm/host/host_gemm.hpp"

#include "ops/common/blocking.hpp"
#include "ops/gemm/host/packing.hpp"
#include "ops/gemm/host/row_blocks.hpp"
#include "ops/gemm/microkernel/fma.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace zygos::ops {
namespace {

using namespace microkernel;

// ---------------------------------------------------------------- a b

/// Cache lines of a row of a panel: without AVX a part of one.
template <class T>
constexpr std::int64_t panel_lines = ceil_div(panel<T>, line<T>);

/// Blocks of rows and one panel of b. The first block stores the panel for the others; the lines of
/// the panel that comes next are fetched by those: by one of few, else each fetches its share of
/// rows, whole ones, for a row may lie on a page of its own.
template <class T>
void multiply_panel(const GemmTile& tile, Args<T>& block, T* packed) {
  constexpr Variant first{.x_along_k = true, .packs = true};
  constexpr auto sharers = static_cast<std::int64_t>(panel_lines<T>);
  constexpr Variant share{.x_along_k = true,
                          .ahead = Variant::operand,
                          .steps = static_cast<int>(sharers),
                          .lines = static_cast<std::size_t>(sharers)};
  constexpr Variant all_lines{.x_along_k = true,
                              .ahead = Variant::operand,
                              .lines = static_cast<std::size_t>(panel_lines<T>)};
  const std::int64_t parts = ceil_div(tile.rows, max_rows);
  const T* const ahead = block.ahead;
  const std::int64_t rounds = block.rounds;
  const std::int64_t share_rounds = ceil_div(rounds, sharers);
  block.packed = packed;
  for_each_row_block(tile, block, [&](std::int64_t rows, std::int64_t part) {
    if (part == 1) {
      block.y = packed;
      block.y_stride = panel<T>;
    }
    if (parts == 1 || (part == 1 && parts <= sharers)) {
      multiply<all_lines, max_vectors>(rows, block);
    } else if (part == 0) {
      multiply<first, max_vectors>(rows, block);
    } else if (parts > sharers && part <= sharers) {
      const std::int64_t done = (part - 1) * share_rounds;
      block.ahead = ahead + done * block.round_stride;
      block.rounds = std::clamp<std::int64_t>(rounds - done, 0, share_rounds);
      multiply<share, max_vectors>(rows, block);
    } else {
      multiply<plain_variant, max_vectors>(rows, block);
    }
  });
}

template <class T>
void multiply_edge_panel(const GemmTile& tile, std::int64_t columns, Args<T>& block, T* packed) {
  pack_panel(block.k, block.y, block.y_stride, columns, packed);
  block.y = packed;
  block.y_stride = panel<T>;
  for_each_row_block(tile, block, [&](std::int64_t rows, std::int64_t) {
    multiply_edge<plain_variant>(rows, columns, block);
  });
}

template <class T>
void compute_nn(const HostGemm<T>& product, const GemmTile& tile) {
  alignas(line_bytes) std::array<T, static_cast<std::size_t>(max_k * panel<T>)> packed;
  const std::int64_t end = tile.column + tile.columns;
  for_each_depth(product.k, max_k, [&](std::int64_t begin, std::int64_t depth) {
    for (std::int64_t column = tile.column; column < end; column += panel<T>) {
      Args<T> block{depth,
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
void multiply_and_store(const GemmTile& tile, Args<T>& block) {
  constexpr Variant variant{.x_along_k = false,
                            .packs = true,
                            .ahead = Variant::operand,
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
      multiply_edge<Variant{.x_along_k = false}>(tile.rows, left, block);
    } else {
      block.ahead = block.y + panel<T>;
      block.rounds = left < 2 * panel<T> ? 0 : block.k;
      multiply<variant, max_vectors>(tile.rows, block);
    }
  }
}

/// The others: a result is fetched while the block before it is computed, which is all there is to
/// read from DRAM or the last-level cache.
template <class T>
void multiply_stored(const GemmTile& tile, std::int64_t rows_below, Args<T>& block) {
  constexpr Variant variant{.x_along_k = false,
                            .ahead = Variant::result,
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
      multiply_edge<variant>(tile.rows, left, block);
      continue;
    }
    const bool last = left < 2 * panel<T>;
    block.ahead = last ? c + tile.rows * block.c_stride : block.c + panel<T>;
    block.rounds = last ? std::min(tile.rows, rows_below) : tile.rows;
    multiply<variant, max_vectors>(tile.rows, block);
  }
}

template <class T>
void multiply_panels(const HostGemm<T>& product, const GemmTile& tile, std::int64_t begin,
                     std::int64_t depth, T* packed) {
  for_each_part(tile.row, tile.rows, max_rows,
                [&](std::int64_t row, std::int64_t rows, std::int64_t part) {
                  const GemmTile some{row, tile.column, rows, tile.columns};
                  Args<T> block{depth,
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
void compute_tn(const HostGemm<T>& product, const GemmTile& tile) {
  alignas(line_bytes) Buffer<T> packed;
  const std::int64_t max_depth = std::clamp<std::int64_t>(product.k, 1, max_k);
  const std::int64_t max_columns = buffer_size<T> / max_depth / panel<T> * panel<T>;
  const std::int64_t end = tile.column + tile.columns;
  for (std::int64_t column = tile.column; column < end; column += max_columns) {
    const GemmTile part{tile.row, column, tile.rows, std::min(max_columns, end - column)};
    for_each_depth(product.k, max_k, [&](std::int64_t begin, std::int64_t depth) {
      multiply_panels(product, part, begin, depth, packed.data());
    });
  }
}

// ---------------------------------------------------------------- a b^T

/// The transposed result of a tile, ct (columns, padded rows) = b a^T: the rows of b are read in
/// place, and the few of a are its vectors.
template <class T>
void multiply_transposed(const HostGemm<T>& product, const GemmTile& tile, std::int64_t begin,
                         std::int64_t depth, const T* packed, T* ct) {
  const std::int64_t padded = round_up(tile.rows, width<T>);
  const std::int64_t stride = product.b_stride;
  for_each_part(
      tile.column, tile.columns, max_rows,
      [&](std::int64_t column, std::int64_t columns, std::int64_t) {
        const T* const x = product.b + column * stride + begin;
        const bool last = column + columns >= product.n;
        for_each_panel<T>(padded, [&](std::int64_t row, std::int64_t vectors) {
          Args<T> block{depth,
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
          constexpr Variant variant{
              .x_along_k = true, .ahead = Variant::operand, .steps = line<T>, .lines = max_rows};
          multiply_vectors<variant>(vectors, columns, block);
        });
      });
}

/// Of few rows: those of a are copied.
template <class T>
void compute_transposed(const HostGemm<T>& product, const GemmTile& tile) {
  alignas(line_bytes) Buffer<T> packed;
  alignas(line_bytes) Buffer<T> ct;
  // Of the product and not of the tile: it decides the order of the sums.
  const std::int64_t max_padded = round_up(std::min(product.m, max_transposed_rows), width<T>);
  const std::int64_t max_depth = buffer_size<T> / max_padded / width<T> * width<T>;
  for_each_part(
      tile.row, tile.rows, max_transposed_rows,
      [&](std::int64_t row, std::int64_t rows, std::int64_t) {
        const std::int64_t padded = round_up(rows, width<T>);
        const std::int64_t max_columns = buffer_size<T> / padded;
        const std::int64_t end = tile.column + tile.columns;
        for (std::int64_t column = tile.column; column < end; column += max_columns) {
          const GemmTile part{row, column, rows, std::min(max_columns, end - column)};
          for_each_depth(product.k, max_depth, [&](std::int64_t begin, std::int64_t depth) {
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
bool has_many_rows(const HostGemm<T>& product) {
  return product.n >= panel<T> && product.m >= std::min(product.n, 2 * max_transposed_rows);
}

/// Rows that the next panel of b^T is made of: of this tile's columns or, after all of those, of
/// its next k.
template <class T>
struct NextPanel {
  NextPanel(const HostGemm<T>& product, const GemmTile& tile, std::int64_t column,
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
void multiply_by_panel(const GemmTile& tile, std::int64_t columns, const NextPanel<T>& next,
                       Args<T>& block) {
  constexpr std::int64_t fetched = 4;
  constexpr Variant fetching{.x_along_k = true,
                             .ahead = Variant::operand,
                             .steps = static_cast<int>(line<T>),
                             .lines = static_cast<std::size_t>(fetched)};
  block.round_stride = line<T>;
  for_each_row_block(tile, block, [&](std::int64_t rows, std::int64_t part) {
    if (columns < panel<T>) {
      multiply_edge<plain_variant>(rows, columns, block);
    } else if ((part + 1) * fetched <= next.rows) {
      block.ahead = next.at + part * fetched * block.line_stride;
      block.rounds = block.k;
      multiply<fetching, max_vectors>(rows, block);
    } else {
      multiply<plain_variant, max_vectors>(rows, block);
    }
  });
}

/// Of many rows.
template <class T>
void compute_by_panels(const HostGemm<T>& product, const GemmTile& tile) {
  alignas(line_bytes) std::array<T, static_cast<std::size_t>(max_k * panel<T>)> packed;
  const std::int64_t end = tile.column + tile.columns;
  for_each_depth(product.k, max_k, [&](std::int64_t begin, std::int64_t depth) {
    for (std::int64_t column = tile.column; column < end; column += panel<T>) {
      const std::int64_t columns = std::min<std::int64_t>(panel<T>, end - column);
      pack_transposed(product.b + column * product.b_stride + begin, product.b_stride, columns,
                      depth, packed.data());
      Args<T> block{depth,
                    product.a + begin,
                    product.a_stride,
                    packed.data(),
                    round_up(columns, width<T>),
                    product.c + column,
                    product.c_stride,
                    product.added || begin > 0};
      block.line_stride = product.b_stride;
      multiply_by_panel(tile, columns, NextPanel<T>(product, tile, column, begin, depth), block);
    }
  });
}

template <class T>
void compute_nt(const HostGemm<T>& product, const GemmTile& tile) {
  if (has_many_rows(product)) {
    compute_by_panels(product, tile);
  } else {
    compute_transposed(product, tile);
  }
}

}  // namespace

template <class T>
void HostGemm<T>::compute(const GemmTile& tile) const {
  switch (form) {
    case GemmForm::nn:
      return compute_nn(*this, tile);
    case GemmForm::tn:
      return compute_tn(*this, tile);
    case GemmForm::nt:
      return compute_nt(*this, tile);
  }
}

template struct HostGemm<float>;
template struct HostGemm<double>;

}  // namespace zygos::ops
