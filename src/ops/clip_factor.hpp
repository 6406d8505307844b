// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/gemm.hpp"
#include "ops/parts.hpp"

#include "zygos/tensor/views.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace zygos::ops {

/// Squares are added up side by side in so many sums, within pieces whose length depends on the
/// number of elements alone: every space and any number of threads give the same bits.
namespace norm {
inline constexpr std::int64_t beside = 32;

/// Pieces of a gradient: no more than this, so that their sums are soon added up.
constexpr std::int64_t pieces(std::int64_t elements) {
  return std::min<std::int64_t>(1024, divided_up(elements, 4096));
}
}  // namespace norm

/// Doubles that add_squares() works in.
constexpr std::int64_t clip_workspace(std::int64_t elements) {
  return norm::pieces(elements) * norm::beside;
}

/// `squares` (1) = or += the sum of the squares of a gradient's elements.
template <class Exec, class T>
void add_squares(const Exec& exec, VectorView<Exec, const T> gradient,
                 VectorView<Exec, double> workspace, VectorView<Exec, double> squares, Into into);

/// From the squares of all elements of a gradient g to min(1, most / |g|), with the Euclidean norm;
/// 1 if the norm is not a number, so that what is wrong stays in sight.
template <class Exec>
void clip_factor(const Exec& exec, double most, VectorView<Exec, double> squares);

}  // namespace zygos::ops
