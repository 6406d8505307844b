// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The scalar functions behind activations, shared by the kernels that fuse them.
#pragma once

#include "ops/activation.hpp"

#include <Kokkos_Core.hpp>

namespace zygos::ops {

template <Activation which, class T>
KOKKOS_INLINE_FUNCTION T activated(T x) {
  if constexpr (which == Activation::relu) {
    // Written so that NaN stays NaN and does not hide as zero.
    return x < T(0) ? T(0) : x;
  } else if constexpr (which == Activation::tanh) {
    return Kokkos::tanh(x);
  } else if constexpr (which == Activation::sigmoid) {
    return T(1) / (T(1) + Kokkos::exp(-x));
  } else if constexpr (which == Activation::gelu) {
    return T(0.5) * x * (T(1) + Kokkos::erf(x * T(0.70710678118654752440)));
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
    const T cumulative = T(0.5) * (T(1) + Kokkos::erf(known * T(0.70710678118654752440)));
    const T density = T(0.39894228040143267794) * Kokkos::exp(T(-0.5) * known * known);
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
