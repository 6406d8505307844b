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

/// exp(2 |x|) - 1, of |x| up to 9.5. With z = 2 |x| / log(2) it is 2^z - 1; z is a whole n and r,
/// at most 1/2 either way, and 2^r - 1 is r P(r), so that nothing cancels near zero. P is fitted to
/// the least largest error, 1.1e-8 of the value.
KOKKOS_INLINE_FUNCTION float tangent_power(float x) {
  const float magnitude = Kokkos::abs(x);
  const float z = (magnitude > 9.5F ? 9.5F : magnitude) * 2.88539008F;  // from here on tanh is 1
  // Added to 1.5 * 2^23 a float is rounded to a whole number, which its last bits hold.
  constexpr float whole = 12582912.0F;
  const float shifted = z + whole;
  const float r = z - (shifted - whole);
  const float power =
      Kokkos::bit_cast<float>((Kokkos::bit_cast<std::uint32_t>(shifted) + 127U) << 23U);
  const float rest =
      r * (0.6931472F +
           r * (0.24022649F + r * (0.055503573F +
                                   r * (0.009618238F + r * (0.0013390747F + r * 0.00015403512F)))));
  return rest * power + (power - 1.0F);
}

/// The hyperbolic tangent of x from its tangent_power.
KOKKOS_INLINE_FUNCTION float tangent_from_power(float power, float x) {
  return Kokkos::copysign(power / (power + 2.0F), x);
}

/// For floats without a branch or a call, so that loops vectorise; within 4 units in the last
/// place. NaN stays NaN.
KOKKOS_INLINE_FUNCTION float hyperbolic_tangent(float x) {
  return tangent_from_power(tangent_power(x), x);
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

/// The same for a kernel that does not know the activation when it is compiled.
template <class T>
KOKKOS_INLINE_FUNCTION T activated(Activation which, T x) {
  switch (which) {
    case Activation::none:
      return x;
    case Activation::relu:
      return activated<Activation::relu>(x);
    case Activation::tanh:
      return activated<Activation::tanh>(x);
    case Activation::sigmoid:
      return activated<Activation::sigmoid>(x);
    case Activation::gelu:
      return activated<Activation::gelu>(x);
  }
  return x;
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
