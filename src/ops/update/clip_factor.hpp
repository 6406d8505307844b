// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Scaling a gradient by its norm: squares of its elements are summed piece by piece, sums of
// pieces to the sums that are asked for, and these to the norm.
#pragma once

#include "zygos/tensor/views.hpp"

#include <cstdint>

namespace zygos::ops {

/// Squares of a piece are summed side by side in so many sums, whatever the space.
inline constexpr std::int64_t squares_beside = 32;

/// sums(s) = the sum of the squares of the gradient's elements in some pieces, summed in double:
/// one piece after the other, in an order that depends on the pieces alone, so every space and any
/// number of threads give the same bits.
///   pieces (2 N)     where each begins and ends
///   first (S + 1)    first(s) - first(0): the first piece of sum s, which ends where the next
///                    one's begin
///   workspace        squares_beside * N
///   sums (S)
template <class Exec, class T>
void add_squares(const Exec& exec, VectorView<Exec, const T> gradient,
                 VectorView<Exec, const std::int64_t> pieces,
                 VectorView<Exec, const std::int64_t> first, VectorView<Exec, double> workspace,
                 VectorView<Exec, double> sums);

/// factor (1) = min(1, max_norm / |g|), with |g| the root of all `sums` summed in their order; 1 if
/// that is not a number, so that what is wrong stays in sight.
template <class Exec>
void clip_factor(const Exec& exec, double max_norm, VectorView<Exec, const double> sums,
                 VectorView<Exec, double> factor);

}  // namespace zygos::ops
