// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// 1-bit Adam (Tang et al., "1-bit Adam: Communication Efficient Large-Scale Training with Adam's
// Convergence Speed", ICML 2021, algorithm 1) once its variance v is frozen, with bias corrections
// as Adam's. With d = sqrt(v) root_factor + epsilon, steps u = m / d are what is compressed:
// elements of a block share a magnitude, and gradients of one layer differ by orders of magnitude
// where steps do not. Elements whose v is zero never had a gradient: they have no step, no
// momentum, no error.
//
// Correctly rounded operations without contraction; sums of a block have an order that depends on
// its size alone on a host.
#pragma once

#include "zygos/tensor/views.hpp"

#include <cstdint>

namespace zygos::ops {

struct OneBitScalars {
  double beta1;
  double share;        ///< of the momentum that this worker contributes; shares of all sum to 1
  double root_factor;  ///< 1 / sqrt(1 - beta2^steps) when v last changed
  double epsilon;
  double step_size;  ///< rate / (1 - beta1^step)
  double bound;      ///< of the magnitude of m / d; a worker's is share times this
};

/// Buffers of (P).
template <class Exec, class T>
struct OneBitBuffers {
  VectorView<Exec, T> weights;   ///< update only
  VectorView<Exec, T> gradient;  ///< what is compressed, and becomes the result
  VectorView<Exec, T> first;
  VectorView<Exec, const T> second;      ///< frozen
  VectorView<Exec, T> error;             ///< of compression, fed back
  VectorView<Exec, std::int32_t> bad{};  ///< as in UpdateBuffers
};

/// x = bounded((share beta1 m + (1 - beta1) g) / d) + e; g = C(x); e = x - g, with C(x) = |x|_2 /
/// sqrt(n) sign(x) in every block of one_bit_block elements, of which n have a v.
template <class Exec, class T>
void compress_momentum(const Exec& exec, const OneBitScalars& scalars,
                       const OneBitBuffers<Exec, T>& buffers);

/// x = g + e; g = C(x); e = x - g
template <class Exec, class T>
void compress_sum(const Exec& exec, const OneBitBuffers<Exec, T>& buffers);

/// g is the step u, the same on all replicas: m = g d; w -= step_size g
template <class Exec, class T>
void apply_step(const Exec& exec, const OneBitScalars& scalars,
                const OneBitBuffers<Exec, T>& buffers);

}  // namespace zygos::ops
