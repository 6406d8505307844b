// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Mean and variance of columns, learned as samples come.
#pragma once

#include "insitu/kernels/columns.hpp"

#include "zygos/lane/execution.hpp"

#include <cstddef>
#include <cstdint>

namespace zygos::insitu {

/// Of a set of numbers: how many, their mean, the sum of squared deviations from it.
struct Moments {
  double count;
  double mean;
  double squares;
};

/// Those of both sets together (Chan, Golub and LeVeque, "Updating formulae and a pairwise
/// algorithm for computing sample variances", 1979).
KOKKOS_INLINE_FUNCTION Moments merged(const Moments& a, const Moments& b) {
  const double count = a.count + b.count;
  if (count == 0.0) {
    return a;
  }
  const double difference = b.mean - a.mean;
  return {count, a.mean + difference * (b.count / count),
          a.squares + b.squares + difference * difference * (a.count * b.count / count)};
}

/// Pieces of samples whose moments are taken at once.
inline constexpr std::int64_t samples_of_a_piece = 512;
inline constexpr std::int64_t max_pieces = 64;
/// Of the scratch memory that add_moments needs, in Moments.
constexpr std::int64_t scratch_of_moments(std::int64_t width) { return max_pieces * width; }

/// Adds the samples' finite values to the running moments of their columns. Pieces have a fixed
/// length and are merged in their order, so the number of threads changes no bit.
void add_moments(const lane::Execution& execution, const Columns& columns, Moments* scratch,
                 Moments* running);

}  // namespace zygos::insitu
