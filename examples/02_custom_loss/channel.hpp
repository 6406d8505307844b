// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands for an experiment: a tracer in a periodic channel, carried along and spread, seen by
// sensors of which one in twenty reads nonsense. What went in is known exactly.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace channel {

using Fields = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// In [0, 1): a golden-ratio sequence.
KOKKOS_INLINE_FUNCTION double drawn(double key) { return key - Kokkos::floor(key); }

/// `before` (run, cell) gets new concentrations; `after` (run, cell and one more) what they become
/// in 20 time steps, and last the mean concentration, which stays; `measured` the same as the
/// sensors see it.
template <class Exec>
void run(const Exec& exec, std::uint64_t period, const Fields& before, const Fields& after,
         const Fields& measured) {
  const auto cells = static_cast<int>(before.extent(1));
  const Kokkos::RangePolicy<Exec> runs(exec, 0, static_cast<int>(before.extent(0)));
  Kokkos::parallel_for(
      "channel::run", runs, KOKKOS_LAMBDA(int run) {
        const double key = static_cast<double>(period * 131 + static_cast<std::uint64_t>(run) + 1);
        const double place = drawn(key * 0.6180339887498949);
        const double height = 0.5 + drawn(key * 0.7548776662466927);
        for (int cell = 0; cell < cells; ++cell) {
          const double there = Kokkos::abs((cell + 0.5) / cells - place);
          const double distance = there < 0.5 ? there : 1.0 - there;
          before(run, cell) = height * Kokkos::exp(-80.0 * distance * distance);
          after(run, cell) = before(run, cell);
        }
        for (int step = 0; step < 20; ++step) {
          // Upwind: what leaves a cell enters the next.
          double flux = 0.4 * after(run, cells - 1);
          for (int cell = 0; cell < cells; ++cell) {
            const double leaves = 0.4 * after(run, cell);
            after(run, cell) += flux - leaves;
            flux = leaves;
          }
        }
        double total = 0.0;
        for (int cell = 0; cell < cells; ++cell) {
          total += after(run, cell);
          const double chance = drawn(key * 0.5698402909980532 + cell * 0.6180339887498949);
          measured(run, cell) = chance < 0.05 ? 4.0 * height : after(run, cell);
        }
        after(run, cells) = measured(run, cells) = total / cells;
      });
  exec.fence("channel::run");
}

}  // namespace channel
