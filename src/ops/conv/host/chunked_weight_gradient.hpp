// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the weight gradients by vectors of samples and of channels have in common: sums over all
// samples and output pixels in chunks of samples, whose partial sums are reduced at the end, in
// pieces of a group's rows.
#pragma once

#include "ops/common/blocking.hpp"
#include "ops/conv/implicit_gemm.hpp"

#include <algorithm>
#include <cstdint>

namespace zygos::ops {

/// How a weight gradient is cut.
struct WeightGradientCut {
  std::int64_t units;     ///< samples, or groups of them
  std::int64_t bands;     ///< of the output pixels of a unit
  std::int64_t chunks;    ///< of units
  std::int64_t stride;    ///< elements of partial sums of a row
  std::int64_t max_rows;  ///< that the microkernel takes at a time
};

template <class T>
class ChunkedWeightGradient {
 public:
  std::int64_t count() const { return cut_.chunks * product_.groups * parts_; }

 protected:
  /// What a piece computes.
  struct Rows {
    std::int64_t group;
    std::int64_t begin;  ///< in it
    std::int64_t end;
    T* sums;  ///< of the group's first row
  };

  /// In `pieces` at least if there are rows enough. partial_sums (chunks, groups, rows, stride)
  ChunkedWeightGradient(const ImplicitGemm<T>& product, T* partial_sums,
                        const WeightGradientCut& cut, std::int64_t pieces)
      : product_(product),
        partial_sums_(partial_sums),
        cut_(cut),
        parts_(std::clamp<std::int64_t>(
            ceil_div(pieces, cut.chunks * product.groups), 1,
            std::max<std::int64_t>(ceil_div(product.rows, cut.max_rows), 1))) {}

  /// f(unit, rows, band, added) for all that a piece sums.
  template <class F>
  void for_each_band(std::int64_t piece, const F& f) const {
    const std::int64_t part = piece % parts_;
    const std::int64_t chunk = piece / parts_ / product_.groups;
    const Rows rows{piece / parts_ % product_.groups, product_.rows * part / parts_,
                    product_.rows * (part + 1) / parts_,
                    partial_sums_ + piece / parts_ * product_.rows * cut_.stride};
    const std::int64_t begin = cut_.units * chunk / cut_.chunks;
    const std::int64_t end = cut_.units * (chunk + 1) / cut_.chunks;
    if (begin == end) {
      std::fill_n(rows.sums + rows.begin * cut_.stride, (rows.end - rows.begin) * cut_.stride,
                  T(0));
    }
    for (std::int64_t unit = begin; unit < end; ++unit) {
      for (std::int64_t band = 0; band < cut_.bands; ++band) {
        f(unit, rows, band, unit > begin || band > 0);
      }
    }
  }
  /// Partial sums of `row`, of all groups' rows.
  const T* partial_sums(std::int64_t chunk, std::int64_t row) const {
    return partial_sums_ + (chunk * product_.groups * product_.rows + row) * cut_.stride;
  }

  ImplicitGemm<T> product_;
  T* partial_sums_;
  WeightGradientCut cut_;
  std::int64_t parts_;  ///< of a group's rows
};

}  // namespace zygos::ops
