// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A batch in several parts that have common statistics. Each part gives a row of them, (1 + 2
// channels) in double: of how many values of a channel it is, then two elements for each channel.
// Every part is normalised by the rows of all, (rows, 1 + 2 channels), put together in their order
// (Chan, Golub and LeVeque, 1979). Extents are those of the part, with all of it as one group.
#pragma once

#include "ops/norm/batch_norm.hpp"

namespace zygos::ops {

/// The row of a part in the forward pass: mean and variance of x.
template <class Exec, class T>
void batch_norm_statistics(const Exec& exec, const ChannelGroups& part, VectorView<Exec, const T> x,
                           VectorView<Exec, double> row);

/// batch_norm() by rows: `moments` (channels, 2) gets mean and variance of all parts.
template <class Exec, class T>
void batch_norm_by_rows(const Exec& exec, const ChannelGroups& part, VectorView<Exec, const T> x,
                        VectorView<Exec, const Wide<T>> gamma, VectorView<Exec, const Wide<T>> beta,
                        double epsilon, VectorView<Exec, const double> rows, VectorView<Exec, T> y,
                        VectorView<Exec, Wide<T>> moments);

/// The row of a part in the backward pass: sums of d_y n and of d_y.
template <class Exec, class T>
void batch_norm_backward_statistics(const Exec& exec, const ChannelGroups& part,
                                    VectorView<Exec, const T> x,
                                    VectorView<Exec, const Wide<T>> moments,
                                    VectorView<Exec, const T> d_y, double epsilon,
                                    VectorView<Exec, double> row);

/// batch_norm_backward_input() by rows: `sums` (channels, 2) gets those of `row`, the part's own.
template <class Exec, class T>
void batch_norm_backward_input_by_rows(
    const Exec& exec, const ChannelGroups& part, VectorView<Exec, const T> x,
    VectorView<Exec, const Wide<T>> gamma, VectorView<Exec, const Wide<T>> moments,
    VectorView<Exec, const T> d_y, double epsilon, VectorView<Exec, const double> rows,
    VectorView<Exec, const double> row, VectorView<Exec, Wide<T>> sums, VectorView<Exec, T> d_x);

}  // namespace zygos::ops
