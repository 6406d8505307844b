// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace zygos::ops {

enum class ProductForm {
  plain,              ///< a (m, k) b (k, n)
  first_transposed,   ///< a (k, m), b (k, n)
  second_transposed,  ///< a (m, k), b (n, k)
};

/// c (m, n) = op(a) op(b), or is added to, of rows that lie strides apart. A and B: what operands
/// are stored as.
template <class T, class A = T, class B = T>
struct StridedProduct {
  ProductForm form;
  std::size_t m;
  std::size_t n;
  std::size_t k;
  const A* a;
  std::size_t a_stride;
  const B* b;
  std::size_t b_stride;
  T* c;
  std::size_t c_stride;
  bool added;
};

/// By the host's BLAS, on the calling thread. Extents and strides must fit into an int.
template <class T>
void blas_multiply(const StridedProduct<T>& product);

}  // namespace zygos::ops
