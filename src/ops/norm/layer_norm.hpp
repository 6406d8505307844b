// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/gemm/gemm.hpp"

#include "zygos/tensor/views.hpp"

namespace zygos::ops {

/// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, row by row; means and variances are
/// summed in double. `moments` (rows, 2) gets each row's mean and 1 / sqrt(variance + epsilon).
template <class Exec, class T>
void layer_norm(const Exec& exec, MatrixView<Exec, const T> x,
                VectorView<Exec, const Wide<T>> gamma, VectorView<Exec, const Wide<T>> beta,
                double epsilon, MatrixView<Exec, T> y, MatrixView<Exec, Wide<T>> moments);

/// d_x from d_y and the moments of the forward pass.
template <class Exec, class T>
void layer_norm_backward_input(const Exec& exec, MatrixView<Exec, const T> x,
                               VectorView<Exec, const Wide<T>> gamma,
                               MatrixView<Exec, const Wide<T>> moments,
                               MatrixView<Exec, const T> d_y, MatrixView<Exec, T> d_x);

/// d_gamma and d_beta: sums over the rows, from the first to the last, in double.
template <class Exec, class T>
void layer_norm_backward_scale(const Exec& exec, MatrixView<Exec, const T> x,
                               MatrixView<Exec, const Wide<T>> moments,
                               MatrixView<Exec, const T> d_y, VectorView<Exec, Wide<T>> d_gamma,
                               VectorView<Exec, Wide<T>> d_beta, Into into);

}  // namespace zygos::ops
