// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/tensor/views.hpp"

namespace zygos::ops {

/// Same enumerators as nn::Activation, which lies above this module.
enum class Activation { none, relu, tanh, sigmoid, gelu };

/// y = f(x); y may be x.
template <class Exec, class T>
void activate(const Exec& exec, Activation which, VectorView<Exec, const T> x,
              VectorView<Exec, T> y);

/// d_x = d_y * f'. `known` is what the derivative is taken from: the output y, for gelu the input
/// x. d_x may be d_y.
template <class Exec, class T>
void activate_backward(const Exec& exec, Activation which, VectorView<Exec, const T> known,
                       VectorView<Exec, const T> d_y, VectorView<Exec, T> d_x);

}  // namespace zygos::ops
