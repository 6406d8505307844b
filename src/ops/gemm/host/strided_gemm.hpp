// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace zygos::ops {

enum class GemmForm {
  nn,  ///< a b with a (m, k), b (k, n)
  tn,  ///< a^T b with a (k, m), b (k, n)
  nt,  ///< a b^T with a (m, k), b (n, k)
};

/// c (m, n) = op(a) op(b), or is added to, of rows that lie strides apart. A and B: what operands
/// are stored as.
template <class T, class A = T, class B = T>
struct StridedGemm {
  GemmForm form;
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

}  // namespace zygos::ops
