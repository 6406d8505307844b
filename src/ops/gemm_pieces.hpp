// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What products of host lanes share, whatever their numbers are: how many pieces a thread takes at
// a time, and sums of columns beside a product.
#pragma once

#include "ops/gemm.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace zygos::ops {

/// Pieces that a thread takes at a time: all of a product of so small a volume that it takes less
/// time than waking another thread would gain.
constexpr std::int64_t pieces_at_a_time(std::int64_t volume, std::int64_t count) {
  constexpr std::int64_t serial_volume = 400'000;
  return volume <= serial_volume ? count : 1;
}

/// Columns whose sums are one piece of work; their accumulators fit in registers and first cache.
inline constexpr std::int64_t sum_columns = 64;

/// The sums of columns [block sum_columns, (block + 1) sum_columns) of b (k, n).
template <class T>
void sum_block(const T* b, std::int64_t k, std::int64_t n, std::int64_t block, Wide<T>* sums,
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
    const auto total = static_cast<Wide<T>>(totals[static_cast<std::size_t>(j)]);
    sums[begin + j] = into == Into::added ? sums[begin + j] + total : total;
  }
}

}  // namespace zygos::ops
