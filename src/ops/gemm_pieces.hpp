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

/// What a product costs: its multiplications, and the numbers of activations that it reads and
/// writes, which lie in the caches of the threads that had them last.
struct ProductSize {
  std::int64_t volume;
  std::int64_t numbers;
};

/// m x n results over k, or over the rows of a batch if that is what is added up.
constexpr ProductSize size_of_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {m * n * k, m * (n + k)};
}
constexpr ProductSize size_over_rows(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {m * n * k, k * (m + n)};
}

/// Pieces that a thread takes at a time: all of a product so small that it takes less time than
/// waking another thread, and fetching what that one has, would gain.
constexpr std::int64_t pieces_at_a_time(const ProductSize& size, std::int64_t count) {
  constexpr std::int64_t serial_volume = 400'000;
  constexpr std::int64_t serial_numbers = 8192;
  return size.volume <= serial_volume && size.numbers <= serial_numbers ? count : 1;
}

/// Columns whose sums are one piece of work; their accumulators fit in registers and first cache.
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
