// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The scalar functions behind activations, shared by the kernels that fuse them.
#pragma once

#include "ops/common/error_function.hpp"
#include "ops/elementwise/activation.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace zygos::ops {

/// For doubles the library's.
KOKKOS_INLINE_FUNCTION double hyperbolic_tangent(double x) { return Kokkos::tanh(x); }

/// For floats without a branch or a call, so that loops vectorise; within 3 units in the last
/// place. With t = exp(2 |x|) - 1 it is t / (t + 2). The exponential is 2^n exp(r), |r| <= log(2) /
/// 2, and exp(r) - 1 its series up to r^7 / 7!, so that nothing cancels near zero. NaN stays NaN.
KOKKOS_INLINE_FUNCTION float hyperbolic_tangent(float x) {
  const float twice = 2.0F * Kokkos::abs(x);
  const float y = twice > 20.0F ? 20.0F : twice;  // from here on it is 1
  // Added to 1.5 * 2^23 a float is rounded to a whole number, which its last bits hold.
  constexpr float whole = 12582912.0F;
  const float shifted = y * 1.44269504F + whole;
  const float n = shifted - whole;
  const float r = (y - n * 0.693145752F) - n * 1.42860677e-6F;
  const float series =
      0.5F +
      r * (1.0F / 6.0F +
           r * (1.0F / 24.0F + r * (1.0F / 120.0F + r * (1.0F / 720.0F + r * (1.0F / 5040.0F)))));
  const float power = Kokkos::bit_cast<float>(
      (Kokkos::bit_cast<std::uint32_t>(shifted) - Kokkos::bit_cast<std::uint32_t>(whole) + 127U)
      << 23U);
  const float t = (r + r * r * series) * power + (power - 1.0F);
  return Kokkos::copysign(t / (t + 2.0F), x);
}

template <Activation which, class T>
KOKKOS_INLINE_FUNCTION T activated(T x) {
  if constexpr (which == Activation::relu) {
    // Written so that NaN stays NaN and does not hide as zero.
    return x < T(0) ? T(0) : x;
  } else if constexpr (which == Activation::tanh) {
    return hyperbolic_tangent(x);
  } else if constexpr (which == Activation::sigmoid) {
    // The power is at most 1, so that nothing overflows, and small results keep their places.
    const T power = exponential(-Kokkos::abs(x));
    return (x < T(0) ? power : T(1)) / (T(1) + power);
  } else if constexpr (which == Activation::gelu) {
    return T(0.5) * x * (T(1) + error_function(x * T(0.70710678118654752440)));
  } else {
    return x;
  }
}

/// f' from the output, for gelu from the input.
template <Activation which, class T>
KOKKOS_INLINE_FUNCTION T slope(T known) {
  if constexpr (which == Activation::relu) {
    return known > T(0) ? T(1) : T(0);
  } else if constexpr (which == Activation::tanh) {
    return T(1) - known * known;
  } else if constexpr (which == Activation::sigmoid) {
    return known * (T(1) - known);
  } else if constexpr (which == Activation::gelu) {
    const T cumulative = T(0.5) * (T(1) + error_function(known * T(0.70710678118654752440)));
    const T density = T(0.39894228040143267794) * exponential(T(-0.5) * known * known);
    return cumulative + known * density;
  } else {
    return T(1);
  }
}

template <Activation which>
struct ActivationConstant {
  static constexpr Activation value = which;
};

/// Calls f with the activation as a type, so that kernels branch outside their loops.
template <class F>
void with_activation(Activation which, const F& f) {
  switch (which) {
    case Activation::none:
      return f(ActivationConstant<Activation::none>{});
    case Activation::relu:
      return f(ActivationConstant<Activation::relu>{});
    case Activation::tanh:
      return f(ActivationConstant<Activation::tanh>{});
    case Activation::sigmoid:
      return f(ActivationConstant<Activation::sigmoid>{});
    case Activation::gelu:
      return f(ActivationConstant<Activation::gelu>{});
  }
}

}  // namespace zygos::ops
