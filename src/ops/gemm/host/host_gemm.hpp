// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The GEMM of host lanes for float and double, by vectors (microkernel/fma.hpp). A general GEMM
// packs both operands; with the small dimensions of a micro-batch that takes longer than the
// product, so here only one operand is packed, panel by panel, and the other is read where it lies.
#pragma once

#include "ops/gemm/host/strided_gemm.hpp"
#include "ops/gemm/host/tiling.hpp"

#include <cstdint>

namespace zygos::ops {

/// c (m, n) = op(a) op(b), or is added to; all row major, rows contiguous unless strides say
/// otherwise. T is float or double.
///
/// Every element of c is the same sum in the same order whichever tile it is computed in: product
/// after product, in blocks of k that depend on the shape.
template <class T>
struct HostGemm {
  GemmForm form;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  const T* a;
  const T* b;
  T* c;
  bool added = false;
  std::int64_t a_stride = form == GemmForm::tn ? m : k;
  std::int64_t b_stride = form == GemmForm::nt ? k : n;
  std::int64_t c_stride = n;

  /// Tiles of the result for so many threads.
  GemmTiling tiling(std::int64_t threads) const;
  void compute(const GemmTile& tile) const;

 private:
  GemmTiling tn_tiling(std::int64_t tiles, std::int64_t threads) const;
};

}  // namespace zygos::ops
