// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/tensor/views.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace zygos::ops {

/// One axis. Window q covers [q * stride - padding, ... + kernel), cut off where there is no input.
struct PoolAxis {
  std::int64_t input;
  std::int64_t output;
  std::int64_t kernel;
  std::int64_t stride;
  std::int64_t padding;

  KOKKOS_INLINE_FUNCTION std::int64_t begin(std::int64_t q) const {
    const std::int64_t first = q * stride - padding;
    return first < 0 ? 0 : first;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t end(std::int64_t q) const {
    const std::int64_t last = q * stride - padding + kernel;
    return last > input ? input : last;
  }
  /// What a window has of the padded input.
  KOKKOS_INLINE_FUNCTION std::int64_t padded(std::int64_t q) const {
    const std::int64_t left = input + 2 * padding - q * stride;
    return left < kernel ? left : kernel;
  }
};

struct Pool2d {
  std::int64_t planes;  ///< samples * channels
  PoolAxis y;
  PoolAxis x;
};

/// y = the largest number of each window, `where` its index in its plane: the first of equal ones,
/// and of several NaN.
template <class Exec, class T>
void max_pool2d(const Exec& exec, const Pool2d& pool, VectorView<Exec, const T> x,
                VectorView<Exec, T> y, VectorView<Exec, std::int32_t> where);
template <class Exec, class T>
void max_pool2d_backward(const Exec& exec, const Pool2d& pool, VectorView<Exec, const T> d_y,
                         VectorView<Exec, const std::int32_t> where, VectorView<Exec, T> d_x);

/// Number of addends that an average is over: those there are, or the padding's zeros, too.
enum class Divisor { covered, padded };

/// y = the mean of each window.
template <class Exec, class T>
void average_pool2d(const Exec& exec, const Pool2d& pool, Divisor divisor,
                    VectorView<Exec, const T> x, VectorView<Exec, T> y);
template <class Exec, class T>
void average_pool2d_backward(const Exec& exec, const Pool2d& pool, Divisor divisor,
                             VectorView<Exec, const T> d_y, VectorView<Exec, T> d_x);

}  // namespace zygos::ops
