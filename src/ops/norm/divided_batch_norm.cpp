// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/norm/divided_batch_norm.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/norm/channel_kernels.hpp"

#include "zygos/core/error.hpp"

namespace zygos::ops {
namespace {

/// Of several parts of a batch, see batch_norm_statistics().
struct StatisticsRows {
  const double* at;
  std::size_t count;
  std::size_t length;

  KOKKOS_FUNCTION double values(std::size_t row) const { return at[row * length]; }
  /// One of the two elements of a channel.
  KOKKOS_FUNCTION double number(std::size_t row, std::size_t channel, std::size_t which) const {
    return at[row * length + 1 + 2 * channel + which];
  }
  KOKKOS_FUNCTION double all_values() const {
    double sum = 0.0;
    for (std::size_t row = 0; row < count; ++row) {
      sum += values(row);
    }
    return sum;
  }
  KOKKOS_FUNCTION double sum_of(std::size_t channel, std::size_t which) const {
    double sum = 0.0;
    for (std::size_t row = 0; row < count; ++row) {
      sum += number(row, channel, which);
    }
    return sum;
  }
  KOKKOS_FUNCTION ChannelMoments moments_of(std::size_t channel) const {
    const double all = all_values();
    double mean = 0.0, squares = 0.0;
    for (std::size_t row = 0; row < count; ++row) {
      mean += values(row) * number(row, channel, 0);
    }
    mean /= all;
    for (std::size_t row = 0; row < count; ++row) {
      const double distance = number(row, channel, 0) - mean;
      squares += values(row) * (number(row, channel, 1) + distance * distance);
    }
    return {mean, squares / all};
  }
};

template <class T>
struct WriteMoments {
  ChannelGroups dimensions;
  const T* x;
  double* row;

  template <class Threads>
  KOKKOS_INLINE_FUNCTION void operator()(const Threads& threads, std::size_t index) const {
    const ChannelPart part(dimensions, index);
    const ChannelMoments own = moments_of(threads, part, x + part.begin);
    row[1 + 2 * index] = own.mean;
    row[2 + 2 * index] = own.variance;
    if (index == 0) {
      row[0] = part.count();
    }
  }
};

template <class T>
struct NormaliseByRows {
  NormaliseChannel<T> channel;
  StatisticsRows rows;
  Wide<T>* moments;

  template <class Threads>
  KOKKOS_INLINE_FUNCTION void operator()(const Threads& threads, std::size_t index) const {
    const ChannelPart part(channel.dimensions, index);
    const ChannelMoments all = rows.moments_of(index);
    const auto mean = static_cast<Wide<T>>(all.mean);
    const auto variance = static_cast<Wide<T>>(all.variance);
    moments[2 * index] = mean;
    moments[2 * index + 1] = variance;
    channel.write(threads, part, mean, variance);
  }
};

template <class T>
struct WriteGradientSums {
  GradientChannel<T> channel;
  double* row;

  template <class Threads>
  KOKKOS_INLINE_FUNCTION void operator()(const Threads& threads, std::size_t index) const {
    const ChannelPart part(channel.dimensions, index);
    const GradientSums own = channel.sums(threads, part, index);
    row[1 + 2 * index] = own.along;
    row[2 + 2 * index] = own.total;
    if (index == 0) {
      row[0] = part.count();
    }
  }
};

template <class T>
struct InputGradientByRows {
  GradientChannel<T> channel;
  StatisticsRows rows;
  const double* row;
  Wide<T>* sums;

  template <class Threads>
  KOKKOS_INLINE_FUNCTION void operator()(const Threads& threads, std::size_t index) const {
    const ChannelPart part(channel.dimensions, index);
    sums[2 * index] = static_cast<Wide<T>>(row[1 + 2 * index]);
    sums[2 * index + 1] = static_cast<Wide<T>>(row[2 + 2 * index]);
    channel.write(threads, part, index, {rows.sum_of(index, 0), rows.sum_of(index, 1)},
                  rows.all_values());
  }
};

std::size_t row_length(const ChannelGroups& part) { return 1 + 2 * part.channels; }

StatisticsRows rows_of(const ChannelGroups& part, const double* rows, std::size_t numbers) {
  return {rows, numbers / row_length(part), row_length(part)};
}

void require_one_group(const ChannelGroups& part, std::size_t size, std::size_t numbers) {
  ZYGOS_REQUIRE(part.groups() <= 1 && size == part.samples * part.channels * part.positions &&
                    numbers >= row_length(part) && numbers % row_length(part) == 0,
                "ops::batch_norm by rows: dimensions do not fit");
}

}  // namespace

template <class Exec, class T>
void batch_norm_statistics(const Exec& exec, const ChannelGroups& part, VectorView<Exec, const T> x,
                           VectorView<Exec, double> row) {
  require_one_group(part, x.size(), row.size());
  for_each_channel("zygos::ops::batch_norm_statistics", exec, part,
                   WriteMoments<T>{part, x.data(), row.data()});
}

template <class Exec, class T>
void batch_norm_by_rows(const Exec& exec, const ChannelGroups& part, VectorView<Exec, const T> x,
                        VectorView<Exec, const Wide<T>> gamma, VectorView<Exec, const Wide<T>> beta,
                        double epsilon, VectorView<Exec, const double> rows, VectorView<Exec, T> y,
                        VectorView<Exec, Wide<T>> moments) {
  require_one_group(part, x.size(), rows.size());
  for_each_channel(
      "zygos::ops::batch_norm_by_rows", exec, part,
      NormaliseByRows<T>{{part, x.data(), gamma.data(), beta.data(), epsilon, y.data()},
                         rows_of(part, rows.data(), rows.size()),
                         moments.data()});
}

template <class Exec, class T>
void batch_norm_backward_statistics(const Exec& exec, const ChannelGroups& part,
                                    VectorView<Exec, const T> x,
                                    VectorView<Exec, const Wide<T>> moments,
                                    VectorView<Exec, const T> d_y, double epsilon,
                                    VectorView<Exec, double> row) {
  require_one_group(part, x.size(), row.size());
  for_each_channel(
      "zygos::ops::batch_norm_backward_statistics", exec, part,
      WriteGradientSums<T>{{part, x.data(), nullptr, moments.data(), d_y.data(), epsilon, nullptr},
                           row.data()});
}

template <class Exec, class T>
void batch_norm_backward_input_by_rows(
    const Exec& exec, const ChannelGroups& part, VectorView<Exec, const T> x,
    VectorView<Exec, const Wide<T>> gamma, VectorView<Exec, const Wide<T>> moments,
    VectorView<Exec, const T> d_y, double epsilon, VectorView<Exec, const double> rows,
    VectorView<Exec, const double> row, VectorView<Exec, Wide<T>> sums, VectorView<Exec, T> d_x) {
  require_one_group(part, x.size(), rows.size());
  for_each_channel("zygos::ops::batch_norm_backward_input_by_rows", exec, part,
                   InputGradientByRows<T>{{part, x.data(), gamma.data(), moments.data(), d_y.data(),
                                           epsilon, d_x.size() == 0 ? nullptr : d_x.data()},
                                          rows_of(part, rows.data(), rows.size()),
                                          row.data(),
                                          sums.data()});
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                          \
  template void batch_norm_statistics<SPACE, T>(                                                  \
      const SPACE&, const ChannelGroups&, VectorView<SPACE, const T>, VectorView<SPACE, double>); \
  template void batch_norm_by_rows<SPACE, T>(                                                     \
      const SPACE&, const ChannelGroups&, VectorView<SPACE, const T>,                             \
      VectorView<SPACE, const Wide<T>>, VectorView<SPACE, const Wide<T>>, double,                 \
      VectorView<SPACE, const double>, VectorView<SPACE, T>, VectorView<SPACE, Wide<T>>);         \
  template void batch_norm_backward_statistics<SPACE, T>(                                         \
      const SPACE&, const ChannelGroups&, VectorView<SPACE, const T>,                             \
      VectorView<SPACE, const Wide<T>>, VectorView<SPACE, const T>, double,                       \
      VectorView<SPACE, double>);                                                                 \
  template void batch_norm_backward_input_by_rows<SPACE, T>(                                      \
      const SPACE&, const ChannelGroups&, VectorView<SPACE, const T>,                             \
      VectorView<SPACE, const Wide<T>>, VectorView<SPACE, const Wide<T>>,                         \
      VectorView<SPACE, const T>, double, VectorView<SPACE, const double>,                        \
      VectorView<SPACE, const double>, VectorView<SPACE, Wide<T>>, VectorView<SPACE, T>);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
