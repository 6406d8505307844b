// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/tensor/views.hpp"

namespace zygos::ops {

/// y = x where x >= 0, slope * x elsewhere.
template <class Exec, class T>
void leaky_relu(const Exec& exec, Wide<T> slope, VectorView<Exec, const T> x,
                VectorView<Exec, T> y);

/// d_x = d_y where x >= 0, slope * d_y elsewhere.
template <class Exec, class T>
void leaky_relu_backward(const Exec& exec, Wide<T> slope, VectorView<Exec, const T> x,
                         VectorView<Exec, const T> d_y, VectorView<Exec, T> d_x);

}  // namespace zygos::ops
