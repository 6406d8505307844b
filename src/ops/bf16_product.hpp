// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products of bf16, added up in float, on a host. Activations are read where they lie;
// weights, which are floats, are rounded to bf16 as they are packed.
#pragma once

#include "ops/strided_product.hpp"
#include "ops/tiling.hpp"

#include "zygos/core/bf16.hpp"

#include <cstdint>

namespace zygos::ops {

/// How pairs of products are added: as the processor does it fastest, or without its tiles, or by
/// float operations alone.
enum class PairProducts { best, without_tiles, widened };

/// op(a) op(b), all row major, with Second = float for weights (the forms plain and
/// second_transposed), bf16 for the form first_transposed.
///
/// Every number is the same sum in the same order whichever tile it is computed in: pair after pair
/// of neighbours along k, in blocks of k that depend on the form (by tiles: even and odd neighbours
/// apart, in blocks of 32).
template <class Second>
struct Bf16Product {
  ProductForm form;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  const bf16* a;
  const Second* b;

  /// Tiles whose results, rounded up to panels, number no more than most_results.
  static constexpr std::int64_t most_results = 32 * 1024;
  Tiling tiling() const;
  /// The sums of a tile, or what is to be added to: (rows, stride). Columns that fill up a vector
  /// are written, too, up to padded_columns().
  void compute(const Tile& tile, float* sums, std::int64_t stride, bool added,
               PairProducts how = PairProducts::best) const;
  static std::int64_t padded_columns(std::int64_t columns);
};

}  // namespace zygos::ops
