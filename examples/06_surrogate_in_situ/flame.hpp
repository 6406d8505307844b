// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands for a simulation code: a flame front in a tube. Temperature and fuel diffuse, and the fuel
// burns at a rate that depends on both so strongly that every cell integrates it in many small
// steps (one-step Arrhenius chemistry, in units of the flame).
#pragma once

#include <Kokkos_Core.hpp>

namespace flame {

using Field = Kokkos::View<double*, Kokkos::HostSpace>;

constexpr double time_step = 0.01;
constexpr int substeps = 100;  ///< of the chemistry: what makes it expensive

struct State {
  explicit State(int cells)
      : temperature("flame::temperature", cells),
        fuel("flame::fuel", cells),
        heating("flame::heating", cells),
        burning("flame::burning", cells),
        next("flame::next", cells) {
    for (int cell = 0; cell < cells; ++cell) {
      const double place = static_cast<double>(cell) / cells;
      temperature(cell) = place < 0.1 ? 1.0 : 0.1 + 0.02 * Kokkos::sin(40.0 * place);
      fuel(cell) = place < 0.1 ? 0.0 : 0.9 + 0.1 * Kokkos::cos(25.0 * place);
    }
  }

  Field temperature, fuel;
  Field heating, burning;  ///< what the chemistry does to both in one time step
  Field next;
};

/// heating, burning = the chemistry of every cell, integrated over one time step.
template <class Exec>
void solve_chemistry(const Exec& exec, const State& state) {
  const auto [temperature, fuel, heating, burning, next] = state;
  Kokkos::parallel_for(
      "flame::chemistry", Kokkos::RangePolicy<Exec>(exec, 0, temperature.extent(0)),
      KOKKOS_LAMBDA(std::size_t cell) {
        double t = temperature(cell);
        double y = fuel(cell);
        for (int step = 0; step < substeps; ++step) {
          const double rate = 60.0 * y * Kokkos::exp(-4.0 / (0.2 + (t > 0.0 ? t : 0.0)));
          const double burnt = rate * time_step / substeps;
          t += burnt;
          y -= burnt;
        }
        heating(cell) = t - temperature(cell);
        burning(cell) = y - fuel(cell);
      });
}

template <class Exec>
void diffuse(const Exec& exec, const Field& field, const Field& next) {
  const std::size_t cells = field.extent(0);
  const double factor = 0.2;
  Kokkos::parallel_for(
      "flame::diffuse", Kokkos::RangePolicy<Exec>(exec, 0, cells), KOKKOS_LAMBDA(std::size_t i) {
        const double left = field(i == 0 ? 0 : i - 1);
        const double right = field(i + 1 == cells ? i : i + 1);
        next(i) = field(i) + factor * (left - 2.0 * field(i) + right);
      });
  Kokkos::deep_copy(exec, field, next);
}

/// Adds what the chemistry says and diffuses.
template <class Exec>
void advance(const Exec& exec, const State& state) {
  const auto [temperature, fuel, heating, burning, next] = state;
  Kokkos::parallel_for(
      "flame::react", Kokkos::RangePolicy<Exec>(exec, 0, temperature.extent(0)),
      KOKKOS_LAMBDA(std::size_t cell) {
        temperature(cell) += heating(cell);
        fuel(cell) += burning(cell);
      });
  diffuse(exec, state.temperature, state.next);
  diffuse(exec, state.fuel, state.next);
}

/// Of the two temperatures: root mean square of the difference.
inline double difference(const State& one, const State& other) {
  double squares = 0.0;
  for (std::size_t cell = 0; cell < one.next.extent(0); ++cell) {
    const double error = one.temperature(cell) - other.temperature(cell);
    squares += error * error;
  }
  return Kokkos::sqrt(squares / static_cast<double>(one.next.extent(0)));
}

}  // namespace flame
