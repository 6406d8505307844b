// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Column sums of an operand beside a GEMM, whatever its element type: gradients of biases.
#pragma once

#include "ops/gemm/gemm.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace zygos::ops {

/// Columns whose sums are one piece of work; their accumulators fit in registers and L1 cache.
inline constexpr std::int64_t sum_columns = 64;

/// The sums of columns [block sum_columns, (block + 1) sum_columns) of b (k, n).
template <class T, class Sum>
void sum_block(const T* b, std::int64_t k, std::int64_t n, std::int64_t block, Sum* sums,
               Into into) {
  const std::int64_t begin = block * sum_columns;
  const std::int64_t width = std::min(sum_columns, n - begin);
  std::array<double, sum_columns> totals{};
  for (std::int64_t row = 0; row < k; ++row) {
    const T* const in = b + row * n + begin;
    for (std::int64_t j = 0; j < width; ++j) {
      totals[static_cast<std::size_t>(j)] += static_cast<double>(in[j]);
    }
  }
  for (std::int64_t j = 0; j < width; ++j) {
    const auto total = static_cast<Sum>(totals[static_cast<std::size_t>(j)]);
    sums[begin + j] = into == Into::added ? sums[begin + j] + total : total;
  }
}

}  // namespace zygos::ops
