// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Plain serial references in double: slow, obvious, and written from the formulas alone.
#pragma once

#include <cstddef>
#include <vector>

namespace zygos::reference {

/// c (m, n) = a (m, k) b (k, n), row major.
inline std::vector<double> gemm(std::size_t m, std::size_t n, std::size_t k,
                                const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> c(m * n, 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t l = 0; l < k; ++l) {
        c[i * n + j] += a[i * k + l] * b[l * n + j];
      }
    }
  }
  return c;
}

/// The transpose of a row-major (rows, columns) matrix.
inline std::vector<double> transposed(std::size_t rows, std::size_t columns,
                                      const std::vector<double>& a) {
  std::vector<double> t(a.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      t[j * rows + i] = a[i * columns + j];
    }
  }
  return t;
}

/// Sums of the columns of a row-major (rows, columns) matrix.
inline std::vector<double> column_sums(std::size_t rows, std::size_t columns,
                                       const std::vector<double>& a) {
  std::vector<double> sums(columns, 0.0);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      sums[j] += a[i * columns + j];
    }
  }
  return sums;
}

}  // namespace zygos::reference
