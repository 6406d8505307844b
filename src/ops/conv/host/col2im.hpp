// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/conv/implicit_gemm.hpp"

#include <cstdint>

namespace zygos::ops {

/// The transpose of an implicit GEMM with stride 1, on a host lane: first a GEMM gives every output
/// pixel a column, its contributions to its receptive field; then each element of the source is the
/// sum of the contributions to it (col2im). With few output pixels and wide borders that is less
/// work than the gradient's own implicit GEMM, which multiplies the zeros of the borders.
template <class T>
class Col2im {
 public:
  /// Whether the buffers fit on a thread's stack, and it takes fewer than `products` products of
  /// registers for a sample.
  static bool is_profitable(const ImplicitGemm<T>& product, std::int64_t products);

  /// `product`: the forward one. Its `to` is the gradient of its result and read; d_from is
  /// written.
  Col2im(const ImplicitGemm<T>& product, T* d_from) : product_(product), d_from_(d_from) {}

  /// Samples and groups.
  std::int64_t count() const { return product_.samples * product_.groups; }
  /// Writes the channels of a sample's group, which lie side by side.
  void compute(std::int64_t piece) const;

 private:
  void multiply(std::int64_t group, std::int64_t channel, const T* d_to, T* columns) const;
  template <class Masks>
  void collect(const T* columns, std::int64_t row, const Masks& masks, T* out) const;

  ImplicitGemm<T> product_;
  T* d_from_;
};

}  // namespace zygos::ops
