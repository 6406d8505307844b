// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Packing: operands in the order in which microkernel/fma.hpp reads them, panels, each as wide as a
// full block of results, k after k.
#pragma once

#include "ops/common/blocking.hpp"
#include "ops/gemm/host/tiling.hpp"
#include "ops/gemm/microkernel/fma.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace zygos::ops::microkernel {

/// k of a block of the forms that copy panels of b: 64 KiB of AVX-512's panel, a part of the L2
/// cache.
inline constexpr std::int64_t max_k = 256;
/// Rows of a that a b^T transposes at a time.
inline constexpr std::int64_t max_transposed_rows = 128;
/// Elements of a buffer.
template <class T>
inline constexpr std::int64_t buffer_size = 128 * 1024 / static_cast<std::int64_t>(sizeof(T));
template <class T>
using Buffer = std::array<T, static_cast<std::size_t>(buffer_size<T>)>;

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

/// f(first row, vectors) for the panels of `rows` rows, which are a multiple of a vector.
template <class T, class F>
void for_each_panel(std::int64_t rows, const F& f) {
  for (std::int64_t row = 0; row < rows; row += panel<T>) {
    f(row, std::min<std::int64_t>(max_vectors, (rows - row) / width<T>));
  }
}

/// out = in (rows, depth)^T, panel after panel, with zeros for the rows up to a vector
template <class T>
void pack_transposed(const T* in, std::int64_t stride, std::int64_t rows, std::int64_t depth,
                     T* out) {
  constexpr std::int64_t w = width<T>;
  for_each_panel<T>(round_up(rows, w), [&](std::int64_t first, std::int64_t vectors) {
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
void unpack_transposed(const T* ct, std::int64_t ct_stride, const GemmTile& tile,
                       std::int64_t stride, bool added, T* c) {
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

}  // namespace zygos::ops::microkernel
