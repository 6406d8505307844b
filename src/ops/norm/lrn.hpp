// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/tensor/views.hpp"

#include <cstddef>

namespace zygos::ops {

/// Samples of `channels` planes of `area` elements; `reach` channels on either side count.
struct LrnShape {
  std::size_t samples;
  std::size_t channels;
  std::size_t area;
  std::size_t reach;

  std::size_t size() const { return samples * channels * area; }
};

struct LrnScalars {
  double offset;  ///< k
  double weight;  ///< of a square: alpha / size
  double power;   ///< beta
};

/// y = x / scale^power with scale = offset + weight times the sum of the squares of the channels
/// within reach, at the same place of their planes. `scale` is kept for the gradient.
template <class Exec, class T>
void lrn(const Exec& exec, const LrnShape& shape, const LrnScalars& scalars,
         VectorView<Exec, const T> x, VectorView<Exec, Wide<T>> scale, VectorView<Exec, T> y);

/// d_x from d_y and what the forward pass read and wrote.
template <class Exec, class T>
void lrn_backward(const Exec& exec, const LrnShape& shape, const LrnScalars& scalars,
                  VectorView<Exec, const T> x, VectorView<Exec, const Wide<T>> scale,
                  VectorView<Exec, const T> y, VectorView<Exec, const T> d_y,
                  VectorView<Exec, T> d_x);

}  // namespace zygos::ops
