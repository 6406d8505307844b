// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a convolution's weights by vectors of channels.
#pragma once

#include "ops/conv/host/chunked_weight_gradient.hpp"
#include "ops/conv/host/chwn.hpp"
#include "ops/conv/implicit_gemm.hpp"

#include <cstdint>

namespace zygos::ops {

/// Sums over all samples and output pixels on a host lane, in chunks of samples. A register has the
/// same pixel of as many channels of one sample as it has elements, so that it meets neither
/// borders nor strides, and the gradient of the result is broadcast.
template <class T>
class NhwcWeightGradient : private ChunkedWeightGradient<T> {
  using Chunks = ChunkedWeightGradient<T>;
  using typename Chunks::Rows;

 public:
  /// Cycles for a sample and a group, about; infinity if a thread's stack has no room.
  static double cycles(const ImplicitGemm<T>& product);
  /// Elements that partial_sums needs.
  static std::int64_t partial_elements(const ImplicitGemm<T>& product);

  /// product.to is the gradient of the result; product.weights isn't read.
  /// In `pieces` at least if there are rows enough.
  NhwcWeightGradient(const ImplicitGemm<T>& product, T* partial_sums, std::int64_t pieces);
  using Chunks::count;
  void compute(std::int64_t piece) const;
  /// Elements of `row`, of all groups' rows, in the gradient (groups * rows, depth).
  void add_up(std::int64_t row, T* gradient, bool added) const;

 private:
  void add_band(std::int64_t sample, const Rows& rows, std::int64_t band, bool added) const;

  using Chunks::cut_;
  using Chunks::product_;
};

}  // namespace zygos::ops
