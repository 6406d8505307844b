// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Products a^T b of many rows and few results, as weights' gradients of small layers are. Each part
// of the rows has sums of its own, which are added up in order: a thread multiplies rows that it
// wrote itself, and only sums go from cache to cache. Where the rows are cut is a matter of the
// shape, so the bits do not depend on the threads.
#pragma once

#include "ops/gemm_pieces.hpp"
#include "ops/host_product.hpp"
#include "ops/parts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace zygos::ops {

template <class T>
class RowParts {
 public:
  static constexpr std::int64_t parts = 4;

  /// For a product that is worth other threads' time and reads more than it leaves to add up.
  static bool pay(const ThinProduct<T>& product) {
    return product.form == ProductForm::first_transposed && product.m * product.n <= most_results &&
           product.n <= most_columns &&
           parts * product.m * product.n <= product.k * (product.m + product.n) &&
           pieces_at_a_time(size_over_rows(product.m, product.n, product.k), parts) < parts;
  }

  /// `sums` (n) of b's columns, or null; added to what is there if the product is.
  RowParts(const ThinProduct<T>& product, T* sums)
      : product_(product), sums_(sums), rows_(rounded_up(divided_up(product.k, parts), cut_rows)) {}

  void multiply(std::int64_t part) {
    const std::int64_t begin = std::min(part * rows_, product_.k);
    ThinProduct<T> operands = product_;
    operands.k = std::min(rows_, product_.k - begin);
    operands.a += begin * product_.m;
    operands.b += begin * product_.n;
    operands.c = results_.data() + part * product_.m * product_.n;
    operands.added = false;
    const HostProduct<T> product(operands, 1);
    for (std::int64_t tile = 0; tile < product.tiles(); ++tile) {
      product.compute(tile);
    }
    for (std::int64_t block = 0; sums_ != nullptr && block < sum_blocks(); ++block) {
      sum_block(operands.b, operands.k, product_.n, block, column_sums_.data() + part * product_.n,
                Into::replaced);
    }
  }

  /// Blocks of results, and one of the sums of columns.
  std::int64_t blocks() const { return divided_up(count(), block_size) + 1; }

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
  static constexpr std::int64_t most_results = 64 * 64;
  static constexpr std::int64_t most_columns = 512;
  static constexpr std::int64_t cut_rows = 32;
  static constexpr std::int64_t block_size = 1024;

  std::int64_t count() const { return product_.m * product_.n; }
  std::int64_t sum_blocks() const { return divided_up(product_.n, sum_columns); }

  ThinProduct<T> product_;
  T* sums_;
  std::int64_t rows_;  ///< of a part
  std::array<T, static_cast<std::size_t>(parts* most_results)> results_;
  std::array<double, static_cast<std::size_t>(parts* most_columns)> column_sums_;
};

}  // namespace zygos::ops
