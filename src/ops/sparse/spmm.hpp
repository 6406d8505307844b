// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/gemm/gemm.hpp"

#include "zygos/tensor/views.hpp"

#include <cstddef>
#include <cstdint>

namespace zygos::ops {

/// A sparse matrix by rows (CSR): the entries of row i are number offsets(i) to offsets(i + 1) - 1.
template <class Exec, class T>
struct SparseRows {
  std::size_t rows() const { return offsets.size() - 1; }

  std::size_t columns = 0;
  VectorView<Exec, const std::int32_t> offsets;    ///< (rows + 1)
  VectorView<Exec, const std::int32_t> column_of;  ///< by entry
  VectorView<Exec, const T> values;                ///< by entry
};

/// Of each of N samples y = epilogue(a x), with x (N columns, width) and y (N rows, width), sample
/// after sample. Every row sums its entries in their order, whoever computes it, and is
/// rounded once. The bias has a number for each of the `width` columns.
template <class Exec, class T>
void spmm(const Exec& exec, const SparseRows<Exec, Wide<T>>& a, MatrixView<Exec, const T> x,
          MatrixView<Exec, T> y, const Epilogue<Exec, T>& epilogue = {});

}  // namespace zygos::ops
