// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a convolution's weights by vectors of samples.
#pragma once

#include "ops/conv/host/chunked_weight_gradient.hpp"
#include "ops/conv/host/chwn.hpp"
#include "ops/conv/implicit_gemm.hpp"

#include <cstdint>

namespace zygos::ops {

/// Sums over all samples and output pixels on a host lane, in chunks of groups of samples.
template <class T>
class ChwnWeightGradient : private ChunkedWeightGradient<T> {
  using Chunks = ChunkedWeightGradient<T>;
  using typename Chunks::Rows;

 public:
  /// Cycles for a sample and a group, about; infinity if a thread's stack has no room.
  static double cycles(const ImplicitGemm<T>& product);
  /// Elements that partial_sums needs.
  static std::int64_t partial_elements(const ImplicitGemm<T>& product);

  /// product.to is the gradient of the result; product.weights isn't read.
  /// In `pieces` at least if there are rows enough.
  ChwnWeightGradient(const ImplicitGemm<T>& product, T* partial_sums, std::int64_t pieces);
  using Chunks::count;
  void compute(std::int64_t piece) const;
  /// Elements of `row`, of all groups' rows, in the gradient (groups * rows, depth).
  void add_up(std::int64_t row, T* gradient, bool added) const;

 private:
  void add_band(const SampleGroup& samples, const Rows& rows, const ChwnBand<T>& band,
                bool added) const;

  using Chunks::cut_;
  using Chunks::product_;
};

}  // namespace zygos::ops
