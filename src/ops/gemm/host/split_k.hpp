// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Split-K: a^T b of many rows (k) and few results, as gradients of small layers' weights are. Each
// part of k has partial sums of its own, which are then reduced in order: a thread multiplies rows
// that it wrote itself, and only partial sums move from cache to cache. Where k is cut depends on
// the shape alone, so the bits do not depend on the number of threads.
#pragma once

#include "ops/common/blocking.hpp"
#include "ops/gemm/host/column_sums.hpp"
#include "ops/gemm/host/planned_gemm.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace zygos::ops {

template <class T>
class SplitK {
 public:
  static constexpr std::int64_t parts = split_k_parts;

  /// `sums` (n) of b's columns, or null; added to what is there if the product is.
  SplitK(const HostGemm<T>& product, T* sums)
      : product_(product), sums_(sums), rows_(round_up(ceil_div(product.k, parts), cut_rows)) {}

  void multiply(std::int64_t part) {
    const std::int64_t begin = std::min(part * rows_, product_.k);
    HostGemm<T> operands = product_;
    operands.k = std::min(rows_, product_.k - begin);
    operands.a += begin * product_.m;
    operands.b += begin * product_.n;
    operands.c = results_.data() + part * product_.m * product_.n;
    operands.added = false;
    const PlannedGemm<T> product(operands, 1);
    for (std::int64_t tile = 0; tile < product.tiles(); ++tile) {
      product.compute(tile);
    }
    for (std::int64_t block = 0; sums_ != nullptr && block < sum_blocks(); ++block) {
      sum_block(operands.b, operands.k, product_.n, block, column_sums_.data() + part * product_.n,
                Into::replaced);
    }
  }

  /// Blocks of results, and one of the sums of columns.
  std::int64_t blocks() const { return ceil_div(count(), block_size) + 1; }

  void add(std::int64_t block) {
    const std::int64_t begin = block * block_size;
    const std::int64_t end = std::min(begin + block_size, count());
    for (std::int64_t i = begin; i < end; ++i) {
      T total = product_.added ? product_.c[i] : T(0);
      for (std::int64_t part = 0; part < parts; ++part) {
        total += results_[static_cast<std::size_t>(part * count() + i)];
      }
      product_.c[i] = total;
    }
    for (std::int64_t j = 0; sums_ != nullptr && begin >= count() && j < product_.n; ++j) {
      double total = 0.0;
      for (std::int64_t part = 0; part < parts; ++part) {
        total += column_sums_[static_cast<std::size_t>(part * product_.n + j)];
      }
      sums_[j] = product_.added ? sums_[j] + static_cast<T>(total) : static_cast<T>(total);
    }
  }

 private:
  static constexpr std::int64_t max_results = split_k_max_results;
  static constexpr std::int64_t max_columns = split_k_max_columns;
  static constexpr std::int64_t cut_rows = 32;
  static constexpr std::int64_t block_size = 1024;

  std::int64_t count() const { return product_.m * product_.n; }
  std::int64_t sum_blocks() const { return ceil_div(product_.n, sum_columns); }

  HostGemm<T> product_;
  T* sums_;
  std::int64_t rows_;  ///< of a part
  std::array<T, static_cast<std::size_t>(parts* max_results)> results_;
  std::array<double, static_cast<std::size_t>(parts* max_columns)> column_sums_;
};

}  // namespace zygos::ops
