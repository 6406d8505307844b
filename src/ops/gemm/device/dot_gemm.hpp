// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of few results and long sums: a team sums a result, in an order that never changes.
#pragma once

#include "ops/common/row_reduction.hpp"

#include "zygos/tensor/views.hpp"

#include <cstddef>

namespace zygos::ops {
namespace detail {

/// Result `item` of c = or += a^T b, with a (k, m), b (k, n).
template <class T>
struct DotOfColumns {
  std::size_t m;
  std::size_t n;
  std::size_t k;
  const T* a;
  const T* b;
  T* c;
  bool added;

  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(const Row& threads, std::size_t item) const {
    const T* const left = a + item / n;
    const T* const right = b + item % n;
    const std::size_t rows = m;
    const std::size_t columns = n;
    const double sum = threads.sum(k, [=](std::size_t i) {
      return static_cast<double>(left[i * rows]) * static_cast<double>(right[i * columns]);
    });
    // All threads of the team know the sum; one result has one writer.
    threads.each(1, [=, this](std::size_t) {
      c[item] = added ? c[item] + static_cast<T>(sum) : static_cast<T>(sum);
    });
  }
};

}  // namespace detail

template <class Exec, class T>
void multiply_by_dots(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const T> b,
                      MatrixView<Exec, T> c, bool added) {
  for_each_row("zygos::ops::gemm_tn_dots", exec, c.size(), a.extent(0),
               detail::DotOfColumns<T>{c.extent(0), c.extent(1), a.extent(0), a.data(), b.data(),
                                       c.data(), added});
}

}  // namespace zygos::ops
