// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Optimizer updates over the flat buffers of a model. Only correctly rounded operations, without
// contraction (this file's compile options): every space and a plain loop give the same bits.
#pragma once

#include "zygos/tensor/views.hpp"

#include <cstdint>

namespace zygos::ops {

enum class Decay {
  none,
  added,     ///< to the gradient: L2
  decoupled  ///< to the weights: AdamW
};

/// Scalars of one step, computed once in double.
struct SgdScalars {
  double rate;
  double momentum;
  double decay;
};
struct AdamScalars {
  double step_size;  ///< rate / (1 - beta1^step)
  double beta1;
  double beta2;
  double root_factor;  ///< 1 / sqrt(1 - beta2^step)
  double epsilon;
  double decay;  ///< added: the decay; decoupled: rate * decay
};
struct BoundedAdamScalars {
  double step_size;
  double beta1;
  double beta2;  ///< 1: second moments stay
  double root_factor;
  double epsilon;
  double bound;
};
struct AdagradScalars {
  double rate;
  double epsilon;
  double decay;
};
struct RmspropScalars {
  double rate;
  double alpha;
  double epsilon;
  double momentum;
  double decay;
};

/// What an update overwrites, of (P) each, so that it can be undone. Empty: nothing is kept.
template <class Exec, class T>
struct PreviousBuffers {
  VectorView<Exec, T> weights;
  VectorView<Exec, T> first;
  VectorView<Exec, T> second;
  /// False: they are written before the update. True: the update begins from what they hold.
  bool again = false;
};

/// Buffers of (P). `mask` is 1 where decay applies and is read only if there is decay.
template <class Exec, class T>
struct UpdateBuffers {
  VectorView<Exec, T> weights;
  VectorView<Exec, const T> gradient;
  VectorView<Exec, T> first;   ///< sgd: velocity, empty without momentum; adam: first moment;
                               ///< adagrad: sum of squares; rmsprop: mean square
  VectorView<Exec, T> second;  ///< adam: second moment; rmsprop: velocity, empty without momentum
  VectorView<Exec, const std::uint8_t> mask;
  VectorView<Exec, const double> factor{};  ///< (1), of the gradient; empty: 1
  /// (3) or more, read when the kernel runs in place of what changes from step to step: the rate,
  /// or of adam step_size, root_factor and a decoupled decay. Empty: those that the call has.
  VectorView<Exec, const double> scalars{};
  /// (1): becomes 1 if an element of the gradient is not finite; weight and states of such an
  /// element stay. Empty: nobody asks, and they do not.
  VectorView<Exec, std::int32_t> bad{};
  PreviousBuffers<Exec, T> previous{};
};

/// In all of them a state whose new value is below the smallest normal number becomes zero, but for
/// adagrad's, which only grows.

/// g += decay w; v = momentum v + g; w -= rate v (without momentum: w -= rate g)
template <class Exec, class T>
void sgd(const Exec& exec, const SgdScalars& scalars, const UpdateBuffers<Exec, T>& buffers);

/// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
/// w -= step_size m / (sqrt(v) root_factor + epsilon)
template <class Exec, class T>
void adam(const Exec& exec, const AdamScalars& scalars, Decay decay,
          const UpdateBuffers<Exec, T>& buffers);

/// As adam(), with steps m / (sqrt(v) root_factor + epsilon) of at most `bound` in magnitude, and
/// with neither momentum nor step where v is zero, and stays so.
template <class Exec, class T>
void bounded_adam(const Exec& exec, const BoundedAdamScalars& scalars,
                  const UpdateBuffers<Exec, T>& buffers);

/// g += decay w; s += g^2; w -= rate g / (sqrt(s) + epsilon)
template <class Exec, class T>
void adagrad(const Exec& exec, const AdagradScalars& scalars,
             const UpdateBuffers<Exec, T>& buffers);

/// g += decay w; s = alpha s + (1 - alpha) g^2; v = momentum v + g / (sqrt(s) + epsilon);
/// w -= rate v (without momentum: v = g / (sqrt(s) + epsilon))
template <class Exec, class T>
void rmsprop(const Exec& exec, const RmspropScalars& scalars,
             const UpdateBuffers<Exec, T>& buffers);

}  // namespace zygos::ops
