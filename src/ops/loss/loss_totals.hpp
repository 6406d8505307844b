// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What every loss ends with: its totals.
#pragma once

#include "ops/common/launch.hpp"
#include "ops/loss/loss.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace zygos::ops {

template <HostSpace Exec>
void sum_totals(const Exec&, std::size_t n, double positions, const double* losses,
                const std::int32_t* hits, double* totals) {
  double loss = 0.0;
  std::int64_t hit = 0;
  std::int64_t valid = 0;
  for (std::size_t i = 0; i < n; ++i) {
    loss += losses[i];
    hit += std::max(hits[i], 0);
    valid += hits[i] < 0 ? 0 : 1;
  }
  totals[0] = loss / positions;
  totals[1] = static_cast<double>(hit);
  totals[2] = static_cast<double>(valid);
}

/// One team, so that the order of the sum does not depend on the scheduling of several.
template <DeviceSpace Exec>
void sum_totals(const Exec& exec, std::size_t n, double positions, const double* losses,
                const std::int32_t* hits, double* totals) {
  using Policy = Kokkos::TeamPolicy<Exec>;
  Kokkos::parallel_for(
      "zygos::ops::totals", Policy(exec, 1, Kokkos::AUTO),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        double loss = 0.0;
        double hit = 0.0;
        double valid = 0.0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, n),
            [&](const std::size_t i, double& part) { part += losses[i]; }, loss);
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, n),
            [&](const std::size_t i, double& part) {
              part += hits[i] < 0 ? 0.0 : static_cast<double>(hits[i]);
            },
            hit);
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, n),
            [&](const std::size_t i, double& part) { part += hits[i] < 0 ? 0.0 : 1.0; }, valid);
        Kokkos::single(Kokkos::PerTeam(team), [&]() {
          totals[0] = loss / positions;
          totals[1] = hit;
          totals[2] = valid;
        });
      });
}

/// Samples per chunk such that a chunk is worth a thread.
inline std::size_t samples_per_chunk(std::size_t columns) {
  return std::max<std::size_t>(1, chunk::heavy / std::max<std::size_t>(columns, 1));
}

/// `count` losses, `positions` of every sample.
template <class Exec, class Row>
void evaluate_loss(const char* label, const Exec& exec, std::size_t count, std::size_t columns,
                   const Row& row, double* totals, std::size_t positions = 1) {
  for_each_element(label, exec, count, samples_per_chunk(columns), row);
  sum_totals(exec, count, static_cast<double>(positions), row.losses, row.hits, totals);
}

template <class Exec, class T>
void require_fit(std::size_t samples, std::size_t valid, const LossResults<Exec, T>& results) {
  ZYGOS_REQUIRE(results.sample_losses.size() == valid && results.sample_hits.size() == valid &&
                    results.totals.size() == 3,
                "ops: a loss writes one value per sample or label and three totals");
  ZYGOS_REQUIRE(results.d_prediction.data() == nullptr || results.d_prediction.extent(0) == samples,
                "ops: a loss's gradient has the prediction's dimensions");
}

}  // namespace zygos::ops
