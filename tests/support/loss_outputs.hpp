// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What kernels of losses write, and on what.
#pragma once

#include "ops/loss/loss.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace zygos::testing {

/// Guarded memory for a loss and a hit of each row, which are samples or the positions of some.
template <class Exec, class T>
struct LossOutputs {
  LossOutputs(std::size_t samples, std::size_t columns, bool with_gradient = true)
      : losses(std::vector<double>(samples, 7.0)),
        hits(std::vector<double>(samples, 7.0)),
        gradient(samples * columns),
        totals(std::vector<double>{7.0, 7.0, 7.0}) {
    results.sample_losses = losses.vector();
    results.sample_hits = hits.vector();
    if (with_gradient) {
      results.d_prediction = gradient.matrix(samples, columns);
    }
    results.totals = totals.vector();
  }
  bool guards_intact() const {
    return losses.guards_intact() && hits.guards_intact() && gradient.guards_intact() &&
           totals.guards_intact();
  }

  Buffer<Exec, double> losses;
  Buffer<Exec, std::int32_t> hits;
  Buffer<Exec, T> gradient;
  Buffer<Exec, double> totals;
  ops::LossResults<Exec, T> results;
};

inline std::vector<double> random_labels(std::size_t samples, std::size_t classes) {
  std::vector<double> labels;
  for (std::uint32_t n = 0; n < samples; ++n) {
    labels.push_back(
        static_cast<double>(random_integer(0, static_cast<std::int64_t>(classes) - 1, 9, n)));
  }
  return labels;
}

inline double total_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

struct LossExtents {
  std::size_t samples;
  std::size_t columns;
};
inline const std::vector<LossExtents> loss_shapes{{0, 3},    {1, 1},    {1, 10},  {33, 7},
                                                  {100, 10}, {1000, 3}, {5, 4097}};

}  // namespace zygos::testing
