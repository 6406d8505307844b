// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The cells of a time step that the solver gets, one behind the other, and what is counted of all.
#pragma once

#include "robertson.hpp"

#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>

/// Of the whole run. Seconds are wall time.
struct Statistics {
  std::size_t cells = 0;    ///< times time steps
  std::size_t solved = 0;   ///< of those
  std::size_t checked = 0;  ///< of those, although the networks agreed
  double in_prediction = 0.0, in_solver = 0.0, in_training = 0.0;

  void check(double predicted, double exact) {
    ++checked;
    squares_ += (predicted - exact) * (predicted - exact);
    const double off = exact - mean_;
    mean_ += off / static_cast<double>(checked);
    deviations_ += off * (exact - mean_);
  }
  /// Of predictions against the solver in checked cells, over the deviation of what was predicted.
  double error() const { return std::sqrt(squares_ / deviations_); }
  double seconds() const { return in_prediction + in_solver + in_training; }

 private:
  double squares_ = 0.0, mean_ = 0.0, deviations_ = 0.0;
};

/// Of `most` cells.
struct Cells {
  explicit Cells(std::size_t most)
      : index("cells::index", most),
        a("cells::a", most),
        b("cells::b", most),
        c("cells::c", most),
        change("cells::change", most),
        next_b("cells::next_b", most) {}

  Kokkos::View<std::size_t*, Kokkos::HostSpace> index;
  robertson::Field a, b, c, change, next_b;
  std::size_t count = 0;

  auto states() const { return std::tuple(some(a), some(b), some(c)); }
  auto results() const { return std::tuple(some(change), some(next_b)); }

 private:
  robertson::Field some(const robertson::Field& field) const {
    return Kokkos::subview(field, std::pair(std::size_t{0}, count));
  }
};

/// Those whose spread is not below the limit, and one in `checks` of the others.
template <class Exec>
void choose(const Exec& exec, Cells& cells, const robertson::Field& spread, double limit,
            std::size_t checks, std::size_t time) {
  const auto index = cells.index;
  Kokkos::parallel_scan(
      "cells::choose", Kokkos::RangePolicy<Exec>(exec, 0, spread.extent(0)),
      KOKKOS_LAMBDA(std::size_t i, std::size_t & chosen, bool last) {
        if (!(spread(i) < limit) || (i + 7 * time) % checks == 0) {
          if (last) {
            index(chosen) = i;
          }
          ++chosen;
        }
      },
      cells.count);
}

/// The solver's results for these cells.
template <class Exec>
void solve(const Exec& exec, const Cells& cells, const robertson::State& state, double time_step) {
  Kokkos::parallel_for(
      "cells::solve",
      Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>>(exec, 0, cells.count),
      KOKKOS_LAMBDA(std::size_t k) {
        const std::size_t i = cells.index(k);
        cells.a(k) = state.a(i);
        cells.b(k) = state.b(i);
        cells.c(k) = state.c(i);
        const robertson::Pair after = robertson::solve(
            {cells.a(k), cells.b(k)}, cells.a(k) + cells.b(k) + cells.c(k), time_step);
        cells.change(k) = after.a - cells.a(k);
        cells.next_b(k) = after.b;
      });
}

/// Compares with the predictions that would have been used, and replaces all of these cells.
inline void accept(const Cells& cells, const robertson::State& state,
                   const robertson::Field& spread, double limit, Statistics& statistics) {
  for (std::size_t k = 0; k < cells.count; ++k) {
    const std::size_t i = cells.index(k);
    if (spread(i) < limit) {
      statistics.check(state.change(i), cells.change(k));
    }
    state.change(i) = cells.change(k);
    state.next_b(i) = cells.next_b(k);
  }
  statistics.solved += cells.count;
  statistics.cells += state.a.extent(0);
}
