// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What each optimizer does with one element. `Gradient` gives its scaled gradient by index.
#pragma once

#include "ops/update/update.hpp"

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

namespace zygos::ops::update {

/// The gradient with decay added to it, where there is any and the mask says so.
template <bool with_decay, class T>
KOKKOS_INLINE_FUNCTION T decayed(const T gradient, const T decay, const std::uint8_t* mask,
                                 const T* w, const std::size_t i) {
  if constexpr (with_decay) {
    return gradient + (mask[i] != 0 ? decay : T(0)) * w[i];
  } else {
    return gradient;
  }
}

/// A state that fades away ends at zero. Rounding would keep it at some of the smallest subnormal
/// elements for ever (of 4 of them, 0.9 times as many are 4), and processors take a hundred times
/// as long for those: a perceptron whose units become inactive took three times as long a step.
template <class T>
KOKKOS_INLINE_FUNCTION T faded(const T state) {
  return Kokkos::abs(state) < Kokkos::Experimental::norm_min_v<T> ? T(0) : state;
}

/// Functors and not lambdas: CUDA forbids an extended lambda to capture first inside `if
/// constexpr`. read() takes from memory what changes from step to step (UpdateBuffers::scalars).
template <bool with_momentum, bool with_decay, class T, class Gradient>
struct SgdElement {
  T rate;
  T momentum;
  T decay;
  T* w;
  T* v;
  Gradient gradient;
  const std::uint8_t* mask;

  KOKKOS_FUNCTION void read(const double* numbers) { rate = static_cast<T>(numbers[0]); }
  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    T g = decayed<with_decay>(gradient[i], decay, mask, w, i);
    if constexpr (with_momentum) {
      g = faded(g + momentum * v[i]);
      v[i] = g;
    }
    w[i] -= rate * g;
  }
};

template <Decay kind, class T, class Gradient>
struct AdamElement {
  T step_size;
  T beta1;
  T beta2;
  T rest1;
  T rest2;
  T root_factor;
  T epsilon;
  T decay;
  T* w;
  T* m;
  T* v;
  Gradient gradient;
  const std::uint8_t* mask;

  KOKKOS_FUNCTION void read(const double* numbers) {
    step_size = static_cast<T>(numbers[0]);
    root_factor = static_cast<T>(numbers[1]);
    if constexpr (kind == Decay::decoupled) {
      decay = static_cast<T>(numbers[2]);
    }
  }
  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    T g = gradient[i];
    T weight = w[i];
    if constexpr (kind == Decay::added) {
      g += (mask[i] != 0 ? decay : T(0)) * weight;
    } else if constexpr (kind == Decay::decoupled) {
      weight -= (mask[i] != 0 ? decay : T(0)) * weight;
    }
    const T first = faded(beta1 * m[i] + rest1 * g);
    const T second = faded(beta2 * v[i] + rest2 * (g * g));
    m[i] = first;
    v[i] = second;
    w[i] = weight - step_size * (first / (Kokkos::sqrt(second) * root_factor + epsilon));
  }
};

/// What is not finite stays, so that it is found.
template <class T>
KOKKOS_INLINE_FUNCTION T bounded(const T step, const T bound) {
  const T magnitude = Kokkos::abs(step);
  const bool longer = magnitude > bound && magnitude <= Kokkos::Experimental::finite_max_v<T>;
  return longer ? Kokkos::copysign(bound, step) : step;
}

template <class T, class Gradient>
struct BoundedAdamElement {
  T step_size;
  T beta1;
  T beta2;
  T rest1;
  T rest2;
  T root_factor;
  T epsilon;
  T bound;
  T* w;
  T* m;
  T* v;
  Gradient gradient;

  KOKKOS_FUNCTION void read(const double* numbers) {
    step_size = static_cast<T>(numbers[0]);
    root_factor = static_cast<T>(numbers[1]);
  }
  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    const T g = gradient[i];
    // A zero stays: gaps between parameters, whose gradient a compressed step has left behind.
    const bool steps = !(v[i] <= T(0));  // what is not a number, too
    const T second = steps && rest2 > T(0) ? faded(beta2 * v[i] + rest2 * (g * g)) : v[i];
    const T first = steps ? faded(beta1 * m[i] + rest1 * g) : T(0);
    m[i] = first;
    v[i] = second;
    const T step = bounded(first / (Kokkos::sqrt(second) * root_factor + epsilon), bound);
    w[i] = steps ? w[i] - step_size * step : w[i];
  }
};

template <bool with_decay, class T, class Gradient>
struct AdagradElement {
  T rate;
  T epsilon;
  T decay;
  T* w;
  T* s;
  Gradient gradient;
  const std::uint8_t* mask;

  KOKKOS_FUNCTION void read(const double* numbers) { rate = static_cast<T>(numbers[0]); }
  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    const T g = decayed<with_decay>(gradient[i], decay, mask, w, i);
    const T sum = s[i] + g * g;
    s[i] = sum;
    w[i] -= rate * (g / (Kokkos::sqrt(sum) + epsilon));
  }
};

template <bool with_momentum, bool with_decay, class T, class Gradient>
struct RmspropElement {
  T rate;
  T alpha;
  T rest;
  T epsilon;
  T momentum;
  T decay;
  T* w;
  T* s;
  T* v;
  Gradient gradient;
  const std::uint8_t* mask;

  KOKKOS_FUNCTION void read(const double* numbers) { rate = static_cast<T>(numbers[0]); }
  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    const T g = decayed<with_decay>(gradient[i], decay, mask, w, i);
    const T square = faded(alpha * s[i] + rest * (g * g));
    s[i] = square;
    T step = g / (Kokkos::sqrt(square) + epsilon);
    if constexpr (with_momentum) {
      step = faded(step + momentum * v[i]);
      v[i] = step;
    }
    w[i] -= rate * step;
  }
};

}  // namespace zygos::ops::update
