// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/elementwise/activation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace zygos::reference {

inline double activated(ops::Activation which, double x) {
  switch (which) {
    case ops::Activation::none:
      return x;
    case ops::Activation::relu:
      return std::max(x, 0.0);
    case ops::Activation::tanh:
      return std::tanh(x);
    case ops::Activation::sigmoid:
      return 1.0 / (1.0 + std::exp(-x));
    case ops::Activation::gelu:
      return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
  }
  return 0.0;
}

/// Derivative at the input x.
inline double slope(ops::Activation which, double x) {
  const double y = activated(which, x);
  switch (which) {
    case ops::Activation::none:
      return 1.0;
    case ops::Activation::relu:
      return x > 0.0 ? 1.0 : 0.0;
    case ops::Activation::tanh:
      return 1.0 / (std::cosh(x) * std::cosh(x));
    case ops::Activation::sigmoid:
      return y * (1.0 - y);
    case ops::Activation::gelu:
      return 0.5 * std::erfc(-x / std::numbers::sqrt2) +
             x * std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
  }
  return 0.0;
}

}  // namespace zygos::reference
