// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products with an extent so small that a BLAS spends much of its time on copying the large
// operand into the order it likes: the products of micro-batches. Here the large operand is read
// where it lies.
#pragma once

#include "ops/strided_product.hpp"
#include "ops/tiling.hpp"

#include <cstdint>

namespace zygos::ops {

/// c (m, n) = op(a) op(b), or is added to; all row major, rows behind one another unless strides
/// say otherwise. T is float or double.
///
/// Every number of c is the same sum in the same order whichever tile it is computed in: its
/// products one after the other, in blocks of k that depend on the shape.
template <class T>
struct ThinProduct {
  ProductForm form;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  const T* a;
  const T* b;
  T* c;
  bool added = false;
  std::int64_t a_stride = form == ProductForm::first_transposed ? m : k;
  std::int64_t b_stride = form == ProductForm::second_transposed ? k : n;
  std::int64_t c_stride = n;

  /// Whether compute() is faster than a BLAS for this shape.
  bool pays() const;
  /// Tiles for so many threads.
  Tiling tiling(std::int64_t threads) const;
  void compute(const Tile& tile) const;

 private:
  Tiling tiling_over_rows(std::int64_t tiles, std::int64_t threads) const;
};

}  // namespace zygos::ops
