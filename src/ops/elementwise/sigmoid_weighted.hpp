// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/tensor/views.hpp"

namespace zygos::ops {

/// Sigmoid-weighted linear units x sigmoid(z(x)): z = x, and z = sqrt(8 / pi) (x + 0.044715 x^3),
/// which is the tanh approximation of gelu, as 1 + tanh(z / 2) = 2 sigmoid(z). Their derivative
/// needs the input, so no kernel fuses them.
enum class SigmoidWeighted { silu, gelu_tanh };

/// y = x sigmoid(z(x)); y may be x.
template <class Exec, class T>
void sigmoid_weighted(const Exec& exec, SigmoidWeighted which, VectorView<Exec, const T> x,
                      VectorView<Exec, T> y);

/// d_x = d_y times the derivative at x. d_x may be d_y.
template <class Exec, class T>
void sigmoid_weighted_backward(const Exec& exec, SigmoidWeighted which, VectorView<Exec, const T> x,
                               VectorView<Exec, const T> d_y, VectorView<Exec, T> d_x);

}  // namespace zygos::ops
