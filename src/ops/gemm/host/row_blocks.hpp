// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows of one operand times a packed panel of the other: blocks of the FMA microkernel, one
// under the other. A block is changed in place and never copied: a copy of what was written just
// before would wait for all results before it to be written.
#pragma once

#include "ops/common/blocking.hpp"
#include "ops/gemm/host/tiling.hpp"
#include "ops/gemm/microkernel/fma.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace zygos::ops::microkernel {

inline constexpr Variant plain_variant{.x_along_k = true};

/// A block of fewer columns than a panel, with what does not belong to c computed beside it; leaves
/// `block` as it was.
template <Variant variant, class T>
void multiply_edge(std::int64_t rows, std::int64_t columns, Args<T>& block) {
  std::array<T, static_cast<std::size_t>(max_rows * panel<T>)> beside;
  T* const c = block.c;
  const std::int64_t stride = block.c_stride;
  const bool added = block.added;
  block.c = beside.data();
  block.c_stride = panel<T>;
  block.added = false;
  multiply_vectors<variant>(ceil_div(columns, width<T>), rows, block);
  block.c = c;
  block.c_stride = stride;
  block.added = added;
  for (std::int64_t i = 0; i < rows; ++i) {
    const T* const from = beside.data() + i * panel<T>;
    T* const to = c + i * stride;
    for (std::int64_t j = 0; j < columns; ++j) {
      to[j] = added ? to[j] + from[j] : from[j];
    }
  }
}

/// f(rows, part) for the blocks of a tile's rows, with `block` moved to them.
template <class T, class F>
void for_each_row_block(const GemmTile& tile, Args<T>& block, const F& f) {
  const T* const x = block.x;
  T* const c = block.c;
  for_each_part(tile.row, tile.rows, max_rows,
                [&](std::int64_t row, std::int64_t rows, std::int64_t part) {
                  block.x = x + row * block.x_stride;
                  block.c = c + row * block.c_stride;
                  f(rows, part);
                });
}

}  // namespace zygos::ops::microkernel
