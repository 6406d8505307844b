// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// GEMM, row major. What a layer always needs besides from the same operands (bias and activation of
// the result, column sums of an operand) is part of it.
// Activations are T, weights and their gradients Wide<T>. Of bf16, weights are rounded to bf16
// before they are multiplied, and sums are floats; what is done to them comes before they are
// rounded.
#pragma once

#include "ops/elementwise/activation.hpp"

#include "zygos/tensor/views.hpp"

namespace zygos::ops {

/// Applied to a result while it is in the cache: c = f(c + bias).
template <class Exec, class T>
struct Epilogue {
  VectorView<Exec, const Wide<T>> bias;  ///< (columns of c), or empty
  Activation activation = Activation::none;
};

/// How a device multiplies floats. `tf32`: tensor cores may round operands to TF32 (a float's
/// range, 11 significant bits) where the device's library has it; sums stay float. Hosts, other
/// types and other devices multiply in full.
enum class Products : bool { full, tf32 };

/// c (M, N) = epilogue(a (M, K) b (K, N))
template <class Exec, class T>
void gemm(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const Wide<T>> b,
          MatrixView<Exec, T> c, const Epilogue<Exec, T>& epilogue = {},
          Products products = Products::full);

/// Whether results replace what is there or are added to it.
enum class Into : bool { replaced, added };

/// c (M, N) = a^T b with a (K, M), b (K, N). `sums`, unless empty, gets the sums of b's columns,
/// summed in double.
template <class Exec, class T>
void gemm_tn(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const T> b,
             MatrixView<Exec, Wide<T>> c, VectorView<Exec, Wide<T>> sums = {},
             Into into = Into::replaced, Products products = Products::full);

/// c (M, N) = a b^T with a (M, K), b (N, K)
template <class Exec, class T>
void gemm_nt(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const Wide<T>> b,
             MatrixView<Exec, T> c, Products products = Products::full);

}  // namespace zygos::ops
