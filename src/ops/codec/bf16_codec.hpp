// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages whose elements travel as bf16. Rounding is to nearest even, of a double by way of float;
// what is too large becomes infinite, NaN stays NaN. Sums are correctly rounded: every space gives
// the same bits. T is float or double.
#pragma once

#include "zygos/core/bf16.hpp"
#include "zygos/tensor/views.hpp"

namespace zygos::ops {

/// message = bf16(x)
template <class Exec, class T>
void encode_bf16(const Exec& exec, VectorView<Exec, const T> x, VectorView<Exec, bf16> message);

/// message = x = bf16(x)
template <class Exec, class T>
void round_to_bf16(const Exec& exec, VectorView<Exec, T> x, VectorView<Exec, bf16> message);

/// y = message
template <class Exec, class T>
void decode_bf16(const Exec& exec, VectorView<Exec, const bf16> message, VectorView<Exec, T> y);

/// y = a + message; y may be a.
template <class Exec, class T>
void add_bf16(const Exec& exec, VectorView<Exec, T> y, VectorView<Exec, const T> a,
              VectorView<Exec, const bf16> message);

}  // namespace zygos::ops
