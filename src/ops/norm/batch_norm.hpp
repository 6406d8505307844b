// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/gemm/gemm.hpp"

#include "zygos/tensor/views.hpp"

namespace zygos::ops {

/// A tensor (samples, channels, positions) whose every `group` samples, the last ones maybe fewer,
/// have statistics of their own: a mean and a variance (1 / n) of each channel.
struct ChannelGroups {
  std::size_t samples;
  std::size_t channels;
  std::size_t positions;
  std::size_t group;

  std::size_t groups() const { return (samples + group - 1) / group; }
};

/// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta. `moments` (groups, channels, 2) gets
/// the means and variances, which are summed in double.
template <class Exec, class T>
void batch_norm(const Exec& exec, const ChannelGroups& dimensions, VectorView<Exec, const T> x,
                VectorView<Exec, const Wide<T>> gamma, VectorView<Exec, const Wide<T>> beta,
                double epsilon, VectorView<Exec, T> y, VectorView<Exec, Wide<T>> moments);

/// The same with given means and variances of the channels, whatever the groups.
template <class Exec, class T>
void batch_norm_by(const Exec& exec, const ChannelGroups& dimensions, VectorView<Exec, const T> x,
                   VectorView<Exec, const Wide<T>> gamma, VectorView<Exec, const Wide<T>> beta,
                   double epsilon, VectorView<Exec, const Wide<T>> means,
                   VectorView<Exec, const Wide<T>> variances, VectorView<Exec, T> y);

/// `sums` (groups, channels, 2): of d_y n and of d_y, n being x normalised; then d_x, unless it is
/// empty. `moments` are those of the forward pass.
template <class Exec, class T>
void batch_norm_backward_input(const Exec& exec, const ChannelGroups& dimensions,
                               VectorView<Exec, const T> x, VectorView<Exec, const Wide<T>> gamma,
                               VectorView<Exec, const Wide<T>> moments,
                               VectorView<Exec, const T> d_y, double epsilon,
                               VectorView<Exec, Wide<T>> sums, VectorView<Exec, T> d_x);

/// What a running statistic r moves by: r - (its new value), of (1 - share) r + share s, where s
/// is the mean of the groups' statistics, weighted by their samples in `global_batch`. `together`:
/// the moments are those of the global batch, of which this is a part.
struct Running {
  double share;
  double global_batch;
  bool together = false;
};

/// Operands of batch_norm_backward_parameters, each (channels).
template <class Exec, class T>
struct ChannelParameters {
  VectorView<Exec, const Wide<T>> means;  ///< running
  VectorView<Exec, const Wide<T>> variances;
  VectorView<Exec, Wide<T>> d_gamma;
  VectorView<Exec, Wide<T>> d_beta;
  VectorView<Exec, Wide<T>> d_mean;
  VectorView<Exec, Wide<T>> d_variance;
};

/// Adds `sums` up over the groups; the variances are unbiased (1 / (n - 1)) where n > 1.
template <class Exec, class T>
void batch_norm_backward_parameters(const Exec& exec, const ChannelGroups& dimensions,
                                    const Running& running, VectorView<Exec, const Wide<T>> moments,
                                    VectorView<Exec, const Wide<T>> sums,
                                    const ChannelParameters<Exec, T>& parameters, Into into);

}  // namespace zygos::ops
