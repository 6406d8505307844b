// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The GEMM of host lanes for bf16 operands with sums in float. Activations are read where they lie;
// weights, which are floats, are rounded to bf16 as they are packed.
#pragma once

#include "ops/gemm/host/algorithm.hpp"
#include "ops/gemm/host/strided_gemm.hpp"
#include "ops/gemm/host/tiling.hpp"

#include "zygos/core/bf16.hpp"

#include <cstdint>

namespace zygos::ops {

/// op(a) op(b), all row major, with Second = float for weights (the forms nn and
/// nt), bf16 for the form tn.
///
/// Every element is the same sum in the same order whichever tile it is computed in: pair after
/// pair of neighbours along k, in blocks of k that depend on the form (by AMX: even and odd
/// neighbours apart, in blocks of 32).
template <class Second>
struct Bf16Gemm {
  GemmForm form;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  const bf16* a;
  const Second* b;

  /// Tiles of the result of at most max_results elements, rounded up to panels.
  static constexpr std::int64_t max_results = 32 * 1024;
  GemmTiling tiling() const;
  /// The sums of a tile, or what is to be added to: (rows, stride). Columns that fill up a vector
  /// are written, too, up to padded_columns().
  void compute(const GemmTile& tile, float* sums, std::int64_t stride, bool added,
               GemmAlgorithm algorithm) const;
  static std::int64_t padded_columns(std::int64_t columns);
};

}  // namespace zygos::ops
