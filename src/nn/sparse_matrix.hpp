// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The matrices that graph convolutions multiply with, and how they get to the lanes.
#pragma once

#include "ops/sparse/spmm.hpp"

#include "zygos/core/adjacency.hpp"
#include "zygos/nn/layer.hpp"
#include "zygos/tensor/views.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace zygos::nn {

/// By rows (CSR).
struct SparseMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::int32_t> offsets;
  std::vector<std::int32_t> column_of;
  std::vector<double> values;

  friend bool operator==(const SparseMatrix&, const SparseMatrix&) = default;
};

/// D^-1/2 (A + I) D^-1/2 with D the row sums of A + I (Kipf and Welling, "Semi-supervised
/// classification with graph convolutional networks", ICLR 2017, equation 2). Where not all nodes
/// have lists, and so no degree: D^-1 (A + I), the mean over a node and its neighbours (Hamilton,
/// Ying and Leskovec, 2017, equation 2).
SparseMatrix normalised(const Adjacency& graph);

/// Two rows for every node that has a list: the node itself, then the mean over its neighbours,
/// which is zero if it has none.
SparseMatrix self_and_mean(const Adjacency& graph);

SparseMatrix transposed(const SparseMatrix& matrix);
/// All elements, row major.
std::vector<double> dense_elements(const SparseMatrix& matrix);

/// A matrix and its transpose as constants of a layer: "offsets", "column_of", "values", and the
/// same of the transpose, which is left out if the matrix is symmetric.
class MatrixConstants {
 public:
  explicit MatrixConstants(SparseMatrix matrix);

  const SparseMatrix& matrix() const { return *matrix_; }
  std::vector<ConstantSpec> specs(DType dtype) const;

  template <class Exec, class T>
  ops::SparseRows<Exec, T> rows(std::span<const Tensor> constants) const {
    return view<Exec, T>(constants.first(3), matrix_->columns);
  }
  template <class Exec, class T>
  ops::SparseRows<Exec, T> rows_of_transpose(std::span<const Tensor> constants) const {
    return view<Exec, T>(transpose_ ? constants.subspan(3, 3) : constants.first(3), matrix_->rows);
  }

 private:
  template <class Exec, class T>
  static ops::SparseRows<Exec, T> view(std::span<const Tensor> constants, std::int64_t columns) {
    return {static_cast<std::size_t>(columns), vector_view<Exec, const std::int32_t>(constants[0]),
            vector_view<Exec, const std::int32_t>(constants[1]),
            vector_view<Exec, const T>(constants[2])};
  }

  std::shared_ptr<const SparseMatrix> matrix_;
  std::shared_ptr<const SparseMatrix> transpose_;  ///< null: the matrix itself
};

}  // namespace zygos::nn
