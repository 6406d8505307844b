// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/sparse_matrix.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace zygos::nn {
namespace {

void end_row(SparseMatrix& matrix) {
  if (matrix.column_of.size() >
      static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw UsageError("graph_conv: the graph's matrix has more than 2^31 - 1 entries");
  }
  matrix.offsets.push_back(static_cast<std::int32_t>(matrix.column_of.size()));
}

void add_entry(SparseMatrix& matrix, std::int32_t column, double value) {
  matrix.column_of.push_back(column);
  matrix.values.push_back(value);
}

template <class T, class From>
ConstantSpec constant(std::string name, std::shared_ptr<const SparseMatrix> matrix,
                      const std::vector<From> SparseMatrix::*values) {
  const auto size = static_cast<std::int64_t>(((*matrix).*values).size());
  return {std::move(name), Shape{size}, dtype_of<T>,
          [matrix = std::move(matrix), values](void* to) {
            std::ranges::transform((*matrix).*values, static_cast<T*>(to),
                                   [](From value) { return static_cast<T>(value); });
          }};
}

void add_specs(std::vector<ConstantSpec>& specs, const std::string& prefix,
               const std::shared_ptr<const SparseMatrix>& matrix, DType dtype) {
  specs.push_back(constant<std::int32_t>(prefix + "offsets", matrix, &SparseMatrix::offsets));
  specs.push_back(constant<std::int32_t>(prefix + "column_of", matrix, &SparseMatrix::column_of));
  specs.push_back(dtype == DType::f64
                      ? constant<double>(prefix + "values", matrix, &SparseMatrix::values)
                      : constant<float>(prefix + "values", matrix, &SparseMatrix::values));
}

}  // namespace

SparseMatrix normalised(const Adjacency& graph) {
  SparseMatrix matrix{graph.rows, graph.columns, {0}, {}, {}};
  const bool symmetric = graph.rows == graph.columns;
  const auto degree = [&](std::int64_t node) {
    return static_cast<double>(graph.of(node).size() + 1);
  };
  for (std::int64_t row = 0; row < graph.rows; ++row) {
    const auto own = static_cast<std::int32_t>(row);
    const auto add = [&](std::int32_t column) {
      add_entry(matrix, column,
                symmetric ? 1.0 / std::sqrt(degree(row) * degree(column)) : 1.0 / degree(row));
    };
    const auto neighbours = graph.of(row);
    const auto behind = std::ranges::upper_bound(neighbours, own);
    std::for_each(neighbours.begin(), behind, add);
    add(own);
    std::for_each(behind, neighbours.end(), add);
    end_row(matrix);
  }
  return matrix;
}

SparseMatrix self_and_mean(const Adjacency& graph) {
  SparseMatrix matrix{2 * graph.rows, graph.columns, {0}, {}, {}};
  for (std::int64_t row = 0; row < graph.rows; ++row) {
    add_entry(matrix, static_cast<std::int32_t>(row), 1.0);
    end_row(matrix);
    const auto neighbours = graph.of(row);
    for (const std::int32_t neighbour : neighbours) {
      add_entry(matrix, neighbour, 1.0 / static_cast<double>(neighbours.size()));
    }
    end_row(matrix);
  }
  return matrix;
}

std::vector<double> dense_elements(const SparseMatrix& matrix) {
  std::vector<double> elements(static_cast<std::size_t>(matrix.rows * matrix.columns), 0.0);
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const auto at = static_cast<std::size_t>(row);
    for (auto i = static_cast<std::size_t>(matrix.offsets[at]);
         i < static_cast<std::size_t>(matrix.offsets[at + 1]); ++i) {
      elements[static_cast<std::size_t>(row * matrix.columns + matrix.column_of[i])] =
          matrix.values[i];
    }
  }
  return elements;
}

SparseMatrix transposed(const SparseMatrix& matrix) {
  SparseMatrix out{matrix.columns, matrix.rows, {}, {}, {}};
  out.offsets.assign(static_cast<std::size_t>(matrix.columns) + 1, 0);
  out.column_of.resize(matrix.column_of.size());
  out.values.resize(matrix.values.size());
  for (const std::int32_t column : matrix.column_of) {
    ++out.offsets[static_cast<std::size_t>(column) + 1];
  }
  for (std::size_t row = 1; row < out.offsets.size(); ++row) {
    out.offsets[row] += out.offsets[row - 1];
  }
  std::vector<std::int32_t> next(out.offsets.begin(), out.offsets.end() - 1);
  for (std::size_t row = 0; row + 1 < matrix.offsets.size(); ++row) {
    for (auto entry = static_cast<std::size_t>(matrix.offsets[row]);
         entry < static_cast<std::size_t>(matrix.offsets[row + 1]); ++entry) {
      const auto to =
          static_cast<std::size_t>(next[static_cast<std::size_t>(matrix.column_of[entry])]++);
      out.column_of[to] = static_cast<std::int32_t>(row);
      out.values[to] = matrix.values[entry];
    }
  }
  return out;
}

MatrixConstants::MatrixConstants(SparseMatrix matrix)
    : matrix_(std::make_shared<const SparseMatrix>(std::move(matrix))) {
  auto transpose = std::make_shared<const SparseMatrix>(transposed(*matrix_));
  if (*transpose != *matrix_) {
    transpose_ = std::move(transpose);
  }
}

std::vector<ConstantSpec> MatrixConstants::specs(DType dtype) const {
  std::vector<ConstantSpec> specs;
  add_specs(specs, "", matrix_, dtype);
  if (transpose_) {
    add_specs(specs, "transposed_", transpose_, dtype);
  }
  return specs;
}

}  // namespace zygos::nn
