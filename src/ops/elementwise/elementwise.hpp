// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/tensor/views.hpp"

namespace zygos::ops {

/// y = value
template <class Exec, class T>
void fill(const Exec& exec, VectorView<Exec, T> y, T value);

/// y = x
template <class Exec, class T>
void copy(const Exec& exec, VectorView<Exec, const T> x, VectorView<Exec, T> y);

/// y = factor * y
template <class Exec, class T>
void scale(const Exec& exec, VectorView<Exec, T> y, T factor);

/// y = y + x
template <class Exec, class T>
void add(const Exec& exec, VectorView<Exec, T> y, VectorView<Exec, const T> x);

/// y = a + b; y may be a or b.
template <class Exec, class T>
void sum(const Exec& exec, VectorView<Exec, T> y, VectorView<Exec, const T> a,
         VectorView<Exec, const T> b);

}  // namespace zygos::ops
