// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/graph/graph.hpp"
#include "zygos/schedule/gradient_squares.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::plan {

/// How a place takes part in the norm of a gradient. Each of its sums is made of pieces whose
/// length depends on that sum alone, so neither the number of threads nor a cut changes a bit.
struct NormPlan {
  /// Partial sums of a piece: squares are summed side by side in so many.
  static constexpr std::int64_t beside = 32;

  std::vector<schedule::ElementRange> pieces;  ///< of the flat gradient; statistics are left out
  std::vector<std::int64_t> first;  ///< by own sum, its first piece; then how many pieces there are
  schedule::SumRange own;           ///< of schedule::square_sums()
  std::int64_t sums = 0;            ///< of the model; 0: the place has nothing to do with a norm

  // Elements, of eight bytes each, of what lies behind each other in the lane's memory:
  std::int64_t table() const { return 2 * std::ssize(pieces) + std::ssize(first); }
  std::int64_t workspace() const { return beside * std::ssize(pieces); }
  /// With the sums and the factor.
  std::size_t bytes() const {
    return sums == 0 ? 0 : static_cast<std::size_t>(table() + workspace() + sums + 1) * 8;
  }
};

NormPlan norm_plan(const graph::Graph& graph, const schedule::TasksByPlace& tasks,
                   schedule::Place place);

}  // namespace zygos::plan
