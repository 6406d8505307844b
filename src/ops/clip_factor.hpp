// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// Doubles that clip_factor() works in.
constexpr std::int64_t clip_workspace(std::int64_t elements) {
  return norm::pieces(elements) * norm::beside;
}

/// min(1, most / |g|), with the Euclidean norm of all of `gradient`, goes to `factor` (1); 1 if the
/// norm is not a number, so that what is wrong stays in sight.
template <class Exec, class T>
void clip_factor(const Exec& exec, double most, VectorView<Exec, const T> gradient,
                 VectorView<Exec, double> workspace, VectorView<Exec, double> factor);

}  // namespace zygos::ops
