// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands for a simulation code: heat conduction in rods, one rod a row.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace heat {

/// (rod, cell), in the layout the simulation likes.
using Fields = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

/// Fills `before` with new temperatures and `after` with what they become after 20 time steps.
template <class Exec>
void simulate(const Exec& exec, std::uint64_t period, const Fields& before, const Fields& after) {
  const auto cells = static_cast<int>(before.extent(1));
  const Kokkos::RangePolicy<Exec> rods(exec, 0, static_cast<int>(before.extent(0)));
  Kokkos::parallel_for(
      "heat::simulate", rods, KOKKOS_LAMBDA(int rod) {
        // A pseudo-random bump: golden-ratio sequences for its place and height.
        const double key = static_cast<double>(period * 131 + static_cast<std::uint64_t>(rod) + 1);
        const double place = key * 0.6180339887498949 - Kokkos::floor(key * 0.6180339887498949);
        const double height = key * 0.7548776662466927 - Kokkos::floor(key * 0.7548776662466927);
        for (int cell = 0; cell < cells; ++cell) {
          const double distance = (cell + 0.5) / cells - place;
          before(rod, cell) = (0.5 + height) * Kokkos::exp(-80.0 * distance * distance);
          after(rod, cell) = before(rod, cell);
        }
        for (int step = 0; step < 20; ++step) {
          double left = after(rod, 0);
          for (int cell = 0; cell < cells; ++cell) {
            const double here = after(rod, cell);
            const double right = after(rod, cell + 1 < cells ? cell + 1 : cell);
            after(rod, cell) = here + 0.4 * (left - 2.0 * here + right);
            left = here;
          }
        }
      });
  exec.fence("heat::simulate");
}

}  // namespace heat
