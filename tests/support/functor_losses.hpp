// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Losses as a user would write them.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

namespace zygos::testing {

/// Element by element: quadratic near the target, linear far from it (Huber, 1964).
struct Huber {
  double delta = 1.0;

  KOKKOS_FUNCTION double value(double p, double t) const {
    const double error = Kokkos::abs(p - t);
    return error <= delta ? 0.5 * error * error : delta * (error - 0.5 * delta);
  }
  KOKKOS_FUNCTION double derivative(double p, double t) const {
    const double error = p - t;
    return error > delta ? delta : (error < -delta ? -delta : error);
  }
};

/// Whole samples: the mean squared error, and `weight` times the squared error of the mean; hit if
/// that is below one half. Adds to the gradient twice.
struct Conserving {
  double weight = 1.0;

  template <class Prediction, class Target>
  KOKKOS_FUNCTION double error_of_mean(const Prediction& p, const Target& t) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < p.extent(0); ++k) {
      sum += static_cast<double>(p(k)) - static_cast<double>(t(k));
    }
    return sum / static_cast<double>(p.extent(0));
  }

  template <class Prediction, class Target>
  KOKKOS_FUNCTION double loss(const Prediction& p, const Target& t) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < p.extent(0); ++k) {
      const double error = static_cast<double>(p(k)) - static_cast<double>(t(k));
      sum += error * error;
    }
    const double mean = error_of_mean(p, t);
    return sum / static_cast<double>(p.extent(0)) + weight * mean * mean;
  }

  template <class Prediction, class Target, class Gradient>
  KOKKOS_FUNCTION void gradient(const Prediction& p, const Target& t, const Gradient& d) const {
    using T = typename Gradient::value_type;
    const auto width = static_cast<double>(p.extent(0));
    for (std::size_t k = 0; k < p.extent(0); ++k) {
      d(k) += static_cast<T>(2.0 * (static_cast<double>(p(k)) - static_cast<double>(t(k))) / width);
    }
    const T of_mean = static_cast<T>(2.0 * weight * error_of_mean(p, t) / width);
    for (std::size_t k = 0; k < p.extent(0); ++k) {
      d(k) += of_mean;
    }
  }

  template <class Prediction, class Target>
  KOKKOS_FUNCTION std::int32_t hits(const Prediction& p, const Target& t) const {
    return Kokkos::abs(error_of_mean(p, t)) < 0.5 ? 1 : 0;
  }
};

/// Of labels: what every other class comes nearer than one to the right one (Weston and Watkins,
/// 1999).
struct Hinge {
  static constexpr bool wants_labels = true;

  template <class Prediction, class Target>
  KOKKOS_FUNCTION double loss(const Prediction& p, const Target& label) const {
    const auto right = static_cast<std::size_t>(label(0));
    double sum = 0.0;
    for (std::size_t k = 0; k < p.extent(0); ++k) {
      const double over = 1.0 + static_cast<double>(p(k)) - static_cast<double>(p(right));
      sum += k != right && over > 0.0 ? over : 0.0;
    }
    return sum;
  }

  template <class Prediction, class Target, class Gradient>
  KOKKOS_FUNCTION void gradient(const Prediction& p, const Target& label, const Gradient& d) const {
    using T = typename Gradient::value_type;
    const auto right = static_cast<std::size_t>(label(0));
    for (std::size_t k = 0; k < p.extent(0); ++k) {
      if (k != right && 1.0 + static_cast<double>(p(k)) - static_cast<double>(p(right)) > 0.0) {
        d(k) += T(1);
        d(right) -= T(1);
      }
    }
  }
};

}  // namespace zygos::testing
