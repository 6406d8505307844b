// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What follows a product of a host lane while its tile is in the cache.
#pragma once

#include "ops/elementwise/activation_math.hpp"
#include "ops/gemm/host/tiling.hpp"

#include <cstdint>

namespace zygos::ops {

/// c = f(c + bias) for a tile of c, rows of which are `stride` apart. No bias: null.
template <Activation which, class T>
void finish(const GemmTile& tile, std::int64_t stride, const T* bias, T* c) {
  for (std::int64_t row = tile.row; row < tile.row + tile.rows; ++row) {
    T* const out = c + row * stride + tile.column;
    for (std::int64_t j = 0; j < tile.columns; ++j) {
      out[j] = activated<which>(bias == nullptr ? out[j] : out[j] + bias[tile.column + j]);
    }
  }
}

}  // namespace zygos::ops
