// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands for a simulation code: a square in which three species diffuse and react as in Robertson's
// problem (1966), the standard example of a stiff one:
//
//   a -> c  0.04 a,   2 b -> b + c  3e7 b b,   b + c -> a + c  1e4 b c
//
// Every cell integrates it on its own over each time step, in as many steps as its error demands.
#pragma once

#include <Kokkos_Core.hpp>

namespace robertson {

using Field = Kokkos::View<double*, Kokkos::HostSpace>;

/// Two of the species; the third one is what is left of their sum, which reactions keep.
struct Pair {
  double a, b;
};

KOKKOS_INLINE_FUNCTION Pair rates(const Pair& y, double total) {
  const double back = 1e4 * y.b * (total - y.a - y.b);
  const double da = -0.04 * y.a + back;
  return {da, -da - 3e7 * y.b * y.b};
}

/// One step of ROS2, of second order and L-stable (Verwer, Spee, Blom and Hundsdorfer, SIAM J. Sci.
/// Comput. 20, 1999); `error`: the difference to its solution of first order.
KOKKOS_INLINE_FUNCTION Pair step(const Pair& y, double total, double h, Pair& error) {
  const double gamma = 1.0 - Kokkos::sqrt(0.5);
  const double c = total - y.a - y.b;
  // I - gamma h J, and its determinant.
  const double m11 = 1.0 + gamma * h * (0.04 + 1e4 * y.b);
  const double m12 = -gamma * h * 1e4 * (c - y.b);
  const double m21 = -gamma * h * (0.04 + 1e4 * y.b);
  const double m22 = 1.0 + gamma * h * (1e4 * (c - y.b) + 6e7 * y.b);
  const double determinant = m11 * m22 - m12 * m21;
  const auto solve = [&](double f1, double f2) {
    return Pair{(m22 * f1 - m12 * f2) / determinant, (m11 * f2 - m21 * f1) / determinant};
  };
  const Pair f1 = rates(y, total);
  const Pair k1 = solve(f1.a, f1.b);
  const Pair f2 = rates({y.a + h * k1.a, y.b + h * k1.b}, total);
  const Pair k2 = solve(f2.a - 2.0 * k1.a, f2.b - 2.0 * k1.b);
  error = {0.5 * h * (k1.a + k2.a), 0.5 * h * (k1.b + k2.b)};
  return {y.a + h * (1.5 * k1.a + 0.5 * k2.a), y.b + h * (1.5 * k1.b + 0.5 * k2.b)};
}

/// a and b after `duration`.
KOKKOS_INLINE_FUNCTION Pair solve(Pair y, double total, double duration) {
  constexpr double relative = 1e-8;
  double done = 0.0;
  double h = 1e-4;
  while (done < duration) {
    h = Kokkos::fmin(h, duration - done);
    Pair error{};
    const Pair next = step(y, total, h, error);
    const double off = Kokkos::fmax(Kokkos::fabs(error.a) / (relative * (y.a + 1e-6)),
                                    Kokkos::fabs(error.b) / (relative * (y.b + 1e-8)));
    if (off <= 1.0) {
      y = next;
      done += h;
    }
    h *= Kokkos::fmin(4.0, Kokkos::fmax(0.2, 0.9 / Kokkos::sqrt(off + 1e-12)));
  }
  return y;
}

/// b where its fast reactions balance: 3e7 b b + 1e4 c b = 0.04 a.
inline double balanced_b(double a, double c) {
  return 0.08 * a / (1e4 * c + Kokkos::sqrt(1e8 * c * c + 4.8e6 * a));
}

/// Fields of a square of width * width cells.
struct State {
  explicit State(std::size_t width_)
      : width(width_),
        a("robertson::a", width * width),
        b("robertson::b", width * width),
        c("robertson::c", width * width),
        change("robertson::change", width * width),
        next_b("robertson::next_b", width * width),
        scratch("robertson::scratch", width * width) {
    for (std::size_t i = 0; i < a.extent(0); ++i) {
      const auto scale = 6.0 / static_cast<double>(width);
      const double x = scale * static_cast<double>(i % width);
      const double y = scale * static_cast<double>(i / width);
      const double mixture = 0.45 * (1.0 + Kokkos::sin(x) * Kokkos::cos(1.3 * y));
      const double total = 1.0 + 0.1 * Kokkos::cos(2.0 * x - y);
      a(i) = total * (1.0 - mixture);
      c(i) = total * mixture;
      b(i) = balanced_b(a(i), c(i));
    }
  }

  std::size_t width;
  Field a, b, c;         ///< now
  Field change, next_b;  ///< what reactions make of it in a time step: what a gains, and the new b
  Field scratch;
};

/// change, next_b = the reactions of all cells.
template <class Exec>
void react(const Exec& exec, const State& state, double time_step) {
  const Field a = state.a, b = state.b, c = state.c, change = state.change, next_b = state.next_b;
  Kokkos::parallel_for(
      "robertson::react", Kokkos::RangePolicy<Exec>(exec, 0, a.extent(0)),
      KOKKOS_LAMBDA(std::size_t i) {
        const Pair after = solve({a(i), b(i)}, a(i) + b(i) + c(i), time_step);
        change(i) = after.a - a(i);
        next_b(i) = after.b;
      });
}

template <class Exec>
void diffuse(const Exec& exec, const Field& field, const Field& scratch, std::size_t width) {
  Kokkos::parallel_for(
      "robertson::diffuse", Kokkos::RangePolicy<Exec>(exec, 0, field.extent(0)),
      KOKKOS_LAMBDA(std::size_t i) {
        const std::size_t x = i % width, y = i / width;
        const double around = field(x == 0 ? i : i - 1) + field(x + 1 == width ? i : i + 1) +
                              field(y == 0 ? i : i - width) + field(y + 1 == width ? i : i + width);
        scratch(i) = field(i) + 0.1 * (around - 4.0 * field(i));
      });
  Kokkos::deep_copy(exec, field, scratch);
}

/// Takes change and next_b, lets so much of a flow in at a corner, and diffuses.
template <class Exec>
void advance(const Exec& exec, const State& state, double inflow) {
  const Field a = state.a, b = state.b, c = state.c, change = state.change, next_b = state.next_b;
  const std::size_t width = state.width, inlet = width / 5;
  Kokkos::parallel_for(
      "robertson::advance", Kokkos::RangePolicy<Exec>(exec, 0, a.extent(0)),
      KOKKOS_LAMBDA(std::size_t i) {
        c(i) += b(i) - next_b(i) - change(i);
        a(i) += change(i) + (i % width < inlet && i / width < inlet ? inflow : 0.0);
        b(i) = next_b(i);
      });
  for (const Field& field : {a, b, c}) {
    diffuse(exec, field, state.scratch, width);
  }
}

/// Root mean square of the difference over that of the deviation of `exact` from its mean.
inline double difference(const Field& field, const Field& exact) {
  const auto cells = static_cast<double>(exact.extent(0));
  double mean = 0.0, squares = 0.0, deviations = 0.0;
  for (std::size_t i = 0; i < exact.extent(0); ++i) {
    mean += exact(i) / cells;
  }
  for (std::size_t i = 0; i < exact.extent(0); ++i) {
    squares += (field(i) - exact(i)) * (field(i) - exact(i));
    deviations += (exact(i) - mean) * (exact(i) - mean);
  }
  return Kokkos::sqrt(squares / deviations);
}

}  // namespace robertson
