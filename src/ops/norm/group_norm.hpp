// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/gemm/gemm.hpp"

#include "zygos/tensor/views.hpp"

#include <cstddef>

namespace zygos::ops {

/// Of images (samples, channels, positions), row major; groups divides channels.
struct NormGroups {
  std::size_t samples;
  std::size_t channels;
  std::size_t positions;
  std::size_t groups;

  /// Channels of one group.
  std::size_t together() const { return channels / groups; }
  std::size_t size() const { return samples * channels * positions; }
};

/// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta (Wu and He, 2018), mean and variance
/// over the channels and positions of each group of a sample, summed in double; gamma and beta have
/// an element for each channel. `moments` (samples * groups, 2) gets mean and
/// 1 / sqrt(variance + epsilon).
template <class Exec, class T>
void group_norm(const Exec& exec, const NormGroups& dimensions, VectorView<Exec, const T> x,
                VectorView<Exec, const Wide<T>> gamma, VectorView<Exec, const Wide<T>> beta,
                double epsilon, VectorView<Exec, T> y, VectorView<Exec, Wide<T>> moments);

/// d_x from d_y and the moments of the forward pass. `sums` (samples, channels, 2) gets those of
/// d_y times the normalised x, and of d_y, over the positions. d_x may be empty.
template <class Exec, class T>
void group_norm_backward_input(const Exec& exec, const NormGroups& dimensions,
                               VectorView<Exec, const T> x, VectorView<Exec, const Wide<T>> gamma,
                               VectorView<Exec, const Wide<T>> moments,
                               VectorView<Exec, const T> d_y, VectorView<Exec, Wide<T>> sums,
                               VectorView<Exec, T> d_x);

/// d_gamma and d_beta from the sums of group_norm_backward_input, over the samples from the first
/// to the last, in double.
template <class Exec, class T>
void group_norm_backward_scale(const Exec& exec, const NormGroups& dimensions,
                               VectorView<Exec, const Wide<T>> sums,
                               VectorView<Exec, Wide<T>> d_gamma, VectorView<Exec, Wide<T>> d_beta,
                               Into into);

}  // namespace zygos::ops
