// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/gemm/gemm.hpp"

#include "zygos/tensor/views.hpp"

namespace zygos::ops {

/// Row i of y is the row of the table that ids(i) names, a whole number. For an id that the table
/// does not have the row becomes NaN.
template <class Exec, class T>
void embed(const Exec& exec, VectorView<Exec, const Wide<T>> ids,
           MatrixView<Exec, const Wide<T>> table, MatrixView<Exec, T> y);

/// d_table: each row the sum of those rows of d_y that it went to, from the first to the last.
template <class Exec, class T>
void embed_backward(const Exec& exec, VectorView<Exec, const Wide<T>> ids,
                    MatrixView<Exec, const T> d_y, MatrixView<Exec, Wide<T>> d_table, Into into);

/// Every row of y is that of x plus `values`.
template <class Exec, class T>
void add_to_rows(const Exec& exec, MatrixView<Exec, const T> x,
                 VectorView<Exec, const Wide<T>> values, MatrixView<Exec, T> y);

/// sums: of the columns of x, summed in double from the first row to the last.
template <class Exec, class T>
void sum_rows(const Exec& exec, MatrixView<Exec, const T> x, VectorView<Exec, Wide<T>> sums,
              Into into);

}  // namespace zygos::ops
