// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A host core, or a device's team, has one channel of one group: what it reads twice is still in a
// near cache.
#include "ops/batch_norm.hpp"

#include "ops/for_each_space.hpp"
#include "ops/launch.hpp"
#include "ops/row_threads.hpp"

#include "zygos/core/error.hpp"

namespace zygos::ops {
namespace {

/// One channel of one group: where it begins, and its samples.
struct ChannelPart {
  KOKKOS_FUNCTION ChannelPart(const ChannelGroups& extents, std::size_t index)
      : channel(index % extents.channels),
        stride(extents.channels * extents.positions),
        positions(extents.positions) {
    const std::size_t first = index / extents.channels * extents.group;
    const std::size_t left = extents.samples - first;
    samples = left < extents.group ? left : extents.group;
    begin = first * stride + channel * positions;
  }
  KOKKOS_FUNCTION double count() const { return static_cast<double>(samples * positions); }

  std::size_t channel;
  std::size_t stride;  ///< from sample to sample
  std::size_t positions;
  std::size_t samples;
  std::size_t begin;
};

template <class T>
struct NormaliseChannel {
  ChannelGroups extents;
  const T* x;
  const Wide<T>* gain;
  const Wide<T>* shift;
  double epsilon;
  T* y;

  /// y from x's mean and variance.
  template <class Threads>
  KOKKOS_INLINE_FUNCTION void write(const Threads& threads, const ChannelPart& part, Wide<T> mean,
                                    Wide<T> variance) const {
    const Wide<T> scale =
        static_cast<Wide<T>>(1.0 / Kokkos::sqrt(static_cast<double>(variance) + epsilon)) *
        gain[part.channel];
    const Wide<T> plus = shift[part.channel];
    const T* const in = x + part.begin;
    T* const out = y + part.begin;
    const std::size_t stride = part.stride;
    threads.each(part.samples, part.positions, [=](std::size_t sample, std::size_t i) {
      const std::size_t at = sample * stride + i;
      out[at] = static_cast<T>((in[at] - mean) * scale + plus);
    });
  }
};

struct Moments {
  double mean;
  double variance;
};

/// Of one channel of one group, which begins at `in`.
template <class T, class Threads>
KOKKOS_INLINE_FUNCTION Moments moments_of(const Threads& threads, const ChannelPart& part,
                                          const T* in) {
  const std::size_t stride = part.stride;
  const double mean = threads.sum(part.samples, part.positions,
                                  [=](std::size_t sample, std::size_t i) {
                                    return static_cast<double>(in[sample * stride + i]);
                                  }) /
                      part.count();
  const double variance =
      threads.sum(part.samples, part.positions,
                  [=](std::size_t sample, std::size_t i) {
                    const double distance = static_cast<double>(in[sample * stride + i]) - mean;
                    return distance * distance;
                  }) /
      part.count();
  return {mean, variance};
}

/// Rows of several parts of a batch, see batch_norm_statistics().
struct Rows {
  const double* at;
  std::size_t count;
  std::size_t length;

  KOKKOS_FUNCTION double values(std::size_t row) const { return at[row * length]; }
  /// One of the two numbers of a channel.
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
  KOKKOS_FUNCTION Moments moments_of(std::size_t channel) const {
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
struct NormaliseByOwn {
  NormaliseChannel<T> channel;
  Wide<T>* moments;

  template <class Threads>
  KOKKOS_INLINE_FUNCTION void operator()(const Threads& threads, std::size_t index) const {
    const ChannelPart part(channel.extents, index);
    const Moments own = moments_of(threads, part, channel.x + part.begin);
    moments[2 * index] = static_cast<Wide<T>>(own.mean);
    moments[2 * index + 1] = static_cast<Wide<T>>(own.variance);
    channel.write(threads, part, moments[2 * index], moments[2 * index + 1]);
  }
};

template <class T>
struct WriteMoments {
  ChannelGroups extents;
  const T* x;
  double* row;

  template <class Threads>
  KOKKOS_INLINE_FUNCTION void operator()(const Threads& threads, std::size_t index) const {
    const ChannelPart part(extents, index);
    const Moments own = moments_of(threads, part, x + part.begin);
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
  Rows rows;
  Wide<T>* moments;

  template <class Threads>
  KOKKOS_INLINE_FUNCTION void operator()(const Threads& threads, std::size_t index) const {
    const ChannelPart part(channel.extents, index);
    const Moments all = rows.moments_of(index);
    const auto mean = static_cast<Wide<T>>(all.mean);
    const auto variance = static_cast<Wide<T>>(all.variance);
    moments[2 * index] = mean;
    moments[2 * index + 1] = variance;
    channel.write(threads, part, mean, variance);
  }
};

template <class T>
struct NormaliseByGiven {
  NormaliseChannel<T> channel;
  const Wide<T>* means;
  const Wide<T>* variances;

  template <class Threads>
  KOKKOS_INLINE_FUNCTION void operator()(const Threads& threads, std::size_t index) const {
    const ChannelPart part(channel.extents, index);
    channel.write(threads, part, means[part.channel], variances[part.channel]);
  }
};

/// Of d_y n and of d_y.
struct GradientSums {
  double along;
  double total;
};

template <class T>
struct GradientChannel {
  ChannelGroups extents;
  const T* x;
  const Wide<T>* gain;
  const Wide<T>* moments;
  const T* d_y;
  double epsilon;
  T* d_x;

  KOKKOS_FUNCTION Wide<T> scale(std::size_t index) const {
    return static_cast<Wide<T>>(
        1.0 / Kokkos::sqrt(static_cast<double>(moments[2 * index + 1]) + epsilon));
  }

  template <class Threads>
  KOKKOS_INLINE_FUNCTION GradientSums sums(const Threads& threads, const ChannelPart& part,
                                           std::size_t index) const {
    const T* const in = x + part.begin;
    const T* const from = d_y + part.begin;
    const std::size_t stride = part.stride;
    const Wide<T> middle = moments[2 * index];
    const Wide<T> by = scale(index);
    const double along =
        threads.sum(part.samples, part.positions, [=](std::size_t sample, std::size_t i) {
          const std::size_t at = sample * stride + i;
          return static_cast<double>(from[at] * ((in[at] - middle) * by));
        });
    const double total =
        threads.sum(part.samples, part.positions, [=](std::size_t sample, std::size_t i) {
          return static_cast<double>(from[sample * stride + i]);
        });
    return {along, total};
  }

  /// d_x = s gain (d_y - mean(d_y) - n mean(d_y n)), with s = 1 / sqrt(variance + epsilon), from
  /// the sums over `count` values.
  template <class Threads>
  KOKKOS_INLINE_FUNCTION void write(const Threads& threads, const ChannelPart& part,
                                    std::size_t index, const GradientSums& sums,
                                    double count) const {
    if (d_x == nullptr) {
      return;
    }
    const T* const in = x + part.begin;
    const T* const from = d_y + part.begin;
    T* const out = d_x + part.begin;
    const std::size_t stride = part.stride;
    const Wide<T> middle = moments[2 * index];
    const Wide<T> steep = scale(index);
    const Wide<T> by = steep * gain[part.channel];
    const auto tilt = static_cast<Wide<T>>(sums.along / count);
    const auto mean = static_cast<Wide<T>>(sums.total / count);
    threads.each(part.samples, part.positions, [=](std::size_t sample, std::size_t i) {
      const std::size_t at = sample * stride + i;
      out[at] = static_cast<T>(by * (from[at] - mean - (in[at] - middle) * steep * tilt));
    });
  }
};

template <class T>
struct InputGradient {
  GradientChannel<T> channel;
  Wide<T>* sums;

  template <class Threads>
  KOKKOS_INLINE_FUNCTION void operator()(const Threads& threads, std::size_t index) const {
    const ChannelPart part(channel.extents, index);
    const GradientSums own = channel.sums(threads, part, index);
    sums[2 * index] = static_cast<Wide<T>>(own.along);
    sums[2 * index + 1] = static_cast<Wide<T>>(own.total);
    channel.write(threads, part, index, own, part.count());
  }
};

template <class T>
struct WriteGradientSums {
  GradientChannel<T> channel;
  double* row;

  template <class Threads>
  KOKKOS_INLINE_FUNCTION void operator()(const Threads& threads, std::size_t index) const {
    const ChannelPart part(channel.extents, index);
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
  Rows rows;
  const double* row;
  Wide<T>* sums;

  template <class Threads>
  KOKKOS_INLINE_FUNCTION void operator()(const Threads& threads, std::size_t index) const {
    const ChannelPart part(channel.extents, index);
    sums[2 * index] = static_cast<Wide<T>>(row[1 + 2 * index]);
    sums[2 * index + 1] = static_cast<Wide<T>>(row[2 + 2 * index]);
    channel.write(threads, part, index, {rows.sum_of(index, 0), rows.sum_of(index, 1)},
                  rows.all_values());
  }
};

template <class Exec, class T>
struct ParameterGradient {
  ChannelGroups extents;
  Running running;
  std::size_t groups;
  const Wide<T>* moments;
  const Wide<T>* sums;
  ChannelParameters<Exec, T> parameters;
  bool adds;

  KOKKOS_FUNCTION void operator()(const std::size_t channel) const {
    double gain = 0.0, shift = 0.0, mean = 0.0, variance = 0.0;
    for (std::size_t group = 0; group < groups; ++group) {
      const std::size_t index = group * extents.channels + channel;
      const ChannelPart part(extents, index);
      gain += static_cast<double>(sums[2 * index]);
      shift += static_cast<double>(sums[2 * index + 1]);
      const double share = running.share * static_cast<double>(part.samples) / running.global_batch;
      const double values = running.together
                                ? running.global_batch * static_cast<double>(extents.positions)
                                : part.count();
      const double unbiased = values > 1.0 ? values / (values - 1.0) : 1.0;
      mean += share * (static_cast<double>(parameters.means[channel]) -
                       static_cast<double>(moments[2 * index]));
      variance += share * (static_cast<double>(parameters.variances[channel]) -
                           unbiased * static_cast<double>(moments[2 * index + 1]));
    }
    put(parameters.d_gain, channel, gain);
    put(parameters.d_shift, channel, shift);
    put(parameters.d_mean, channel, mean);
    put(parameters.d_variance, channel, variance);
  }

  KOKKOS_FUNCTION void put(const VectorView<Exec, Wide<T>>& to, std::size_t channel,
                           double sum) const {
    // Not a factor: what is there before the first sum may be NaN.
    to[channel] = (adds ? to[channel] : Wide<T>(0)) + static_cast<Wide<T>>(sum);
  }
};

template <class Exec, class Body>
void for_each_channel(const char* label, const Exec& exec, const ChannelGroups& extents,
                      const Body& body) {
  for_each_row(label, exec, extents.groups() * extents.channels,
               std::min(extents.group, extents.samples) * extents.positions, body);
}

std::size_t row_length(const ChannelGroups& part) { return 1 + 2 * part.channels; }

Rows rows_of(const ChannelGroups& part, const double* rows, std::size_t numbers) {
  return {rows, numbers / row_length(part), row_length(part)};
}

void require_one_group(const ChannelGroups& part, std::size_t size, std::size_t numbers) {
  ZYGOS_REQUIRE(part.groups() <= 1 && size == part.samples * part.channels * part.positions &&
                    numbers >= row_length(part) && numbers % row_length(part) == 0,
                "ops::batch_norm by rows: extents do not fit");
}

}  // namespace

template <class Exec, class T>
void batch_norm(const Exec& exec, const ChannelGroups& extents, VectorView<Exec, const T> x,
                VectorView<Exec, const Wide<T>> gain, VectorView<Exec, const Wide<T>> shift,
                double epsilon, VectorView<Exec, T> y, VectorView<Exec, Wide<T>> moments) {
  ZYGOS_REQUIRE(x.size() == y.size() &&
                    x.size() == extents.samples * extents.channels * extents.positions &&
                    moments.size() >= 2 * extents.groups() * extents.channels,
                "ops::batch_norm: extents do not fit");
  for_each_channel(
      "zygos::ops::batch_norm", exec, extents,
      NormaliseByOwn<T>{{extents, x.data(), gain.data(), shift.data(), epsilon, y.data()},
                        moments.data()});
}

template <class Exec, class T>
void batch_norm_by(const Exec& exec, const ChannelGroups& extents, VectorView<Exec, const T> x,
                   VectorView<Exec, const Wide<T>> gain, VectorView<Exec, const Wide<T>> shift,
                   double epsilon, VectorView<Exec, const Wide<T>> means,
                   VectorView<Exec, const Wide<T>> variances, VectorView<Exec, T> y) {
  ZYGOS_REQUIRE(x.size() == y.size() && means.size() == extents.channels &&
                    variances.size() == extents.channels,
                "ops::batch_norm_by: extents do not fit");
  for_each_channel(
      "zygos::ops::batch_norm_by", exec, extents,
      NormaliseByGiven<T>{{extents, x.data(), gain.data(), shift.data(), epsilon, y.data()},
                          means.data(),
                          variances.data()});
}

template <class Exec, class T>
void batch_norm_backward_input(const Exec& exec, const ChannelGroups& extents,
                               VectorView<Exec, const T> x, VectorView<Exec, const Wide<T>> gain,
                               VectorView<Exec, const Wide<T>> moments,
                               VectorView<Exec, const T> d_y, double epsilon,
                               VectorView<Exec, Wide<T>> sums, VectorView<Exec, T> d_x) {
  ZYGOS_REQUIRE(x.size() == d_y.size() && (d_x.size() == 0 || d_x.size() == x.size()) &&
                    sums.size() >= 2 * extents.groups() * extents.channels,
                "ops::batch_norm_backward_input: extents do not fit");
  for_each_channel("zygos::ops::batch_norm_backward_input", exec, extents,
                   InputGradient<T>{{extents, x.data(), gain.data(), moments.data(), d_y.data(),
                                     epsilon, d_x.size() == 0 ? nullptr : d_x.data()},
                                    sums.data()});
}

template <class Exec, class T>
void batch_norm_statistics(const Exec& exec, const ChannelGroups& part,
                           VectorView<Exec, const T> x, VectorView<Exec, double> row) {
  require_one_group(part, x.size(), row.size());
  for_each_channel("zygos::ops::batch_norm_statistics", exec, part,
                   WriteMoments<T>{part, x.data(), row.data()});
}

template <class Exec, class T>
void batch_norm_by_rows(const Exec& exec, const ChannelGroups& part, VectorView<Exec, const T> x,
                        VectorView<Exec, const Wide<T>> gain,
                        VectorView<Exec, const Wide<T>> shift, double epsilon,
                        VectorView<Exec, const double> rows, VectorView<Exec, T> y,
                        VectorView<Exec, Wide<T>> moments) {
  require_one_group(part, x.size(), rows.size());
  for_each_channel(
      "zygos::ops::batch_norm_by_rows", exec, part,
      NormaliseByRows<T>{{part, x.data(), gain.data(), shift.data(), epsilon, y.data()},
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
  for_each_channel("zygos::ops::batch_norm_backward_statistics", exec, part,
                   WriteGradientSums<T>{{part, x.data(), nullptr, moments.data(), d_y.data(),
                                         epsilon, nullptr},
                                        row.data()});
}

template <class Exec, class T>
void batch_norm_backward_input_by_rows(const Exec& exec, const ChannelGroups& part,
                                       VectorView<Exec, const T> x,
                                       VectorView<Exec, const Wide<T>> gain,
                                       VectorView<Exec, const Wide<T>> moments,
                                       VectorView<Exec, const T> d_y, double epsilon,
                                       VectorView<Exec, const double> rows,
                                       VectorView<Exec, const double> row,
                                       VectorView<Exec, Wide<T>> sums, VectorView<Exec, T> d_x) {
  require_one_group(part, x.size(), rows.size());
  for_each_channel(
      "zygos::ops::batch_norm_backward_input_by_rows", exec, part,
      InputGradientByRows<T>{{part, x.data(), gain.data(), moments.data(), d_y.data(), epsilon,
                              d_x.size() == 0 ? nullptr : d_x.data()},
                             rows_of(part, rows.data(), rows.size()),
                             row.data(),
                             sums.data()});
}

template <class Exec, class T>
void batch_norm_backward_parameters(const Exec& exec, const ChannelGroups& extents,
                                    const Running& running, VectorView<Exec, const Wide<T>> moments,
                                    VectorView<Exec, const Wide<T>> sums,
                                    const ChannelParameters<Exec, T>& parameters, Into into) {
  for_each_element("zygos::ops::batch_norm_backward_parameters", exec, extents.channels,
                   chunk::medium,
                   ParameterGradient<Exec, T>{extents, running, extents.groups(), moments.data(),
                                              sums.data(), parameters, into == Into::added});
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                           \
  template void batch_norm<SPACE, T>(const SPACE&, const ChannelGroups&,                           \
                                     VectorView<SPACE, const T>, VectorView<SPACE, const Wide<T>>, \
                                     VectorView<SPACE, const Wide<T>>, double,                     \
                                     VectorView<SPACE, T>, VectorView<SPACE, Wide<T>>);            \
  template void batch_norm_by<SPACE, T>(                                                           \
      const SPACE&, const ChannelGroups&, VectorView<SPACE, const T>,                              \
      VectorView<SPACE, const Wide<T>>, VectorView<SPACE, const Wide<T>>, double,                  \
      VectorView<SPACE, const Wide<T>>, VectorView<SPACE, const Wide<T>>, VectorView<SPACE, T>);   \
  template void batch_norm_backward_input<SPACE, T>(                                               \
      const SPACE&, const ChannelGroups&, VectorView<SPACE, const T>,                              \
      VectorView<SPACE, const Wide<T>>, VectorView<SPACE, const Wide<T>>,                          \
      VectorView<SPACE, const T>, double, VectorView<SPACE, Wide<T>>, VectorView<SPACE, T>);       \
  template void batch_norm_statistics<SPACE, T>(const SPACE&, const ChannelGroups&,                \
                                                VectorView<SPACE, const T>,                        \
                                                VectorView<SPACE, double>);                        \
  template void batch_norm_by_rows<SPACE, T>(                                                      \
      const SPACE&, const ChannelGroups&, VectorView<SPACE, const T>,                              \
      VectorView<SPACE, const Wide<T>>, VectorView<SPACE, const Wide<T>>, double,                  \
      VectorView<SPACE, const double>, VectorView<SPACE, T>, VectorView<SPACE, Wide<T>>);          \
  template void batch_norm_backward_statistics<SPACE, T>(                                          \
      const SPACE&, const ChannelGroups&, VectorView<SPACE, const T>,                              \
      VectorView<SPACE, const Wide<T>>, VectorView<SPACE, const T>, double,                        \
      VectorView<SPACE, double>);                                                                  \
  template void batch_norm_backward_input_by_rows<SPACE, T>(                                       \
      const SPACE&, const ChannelGroups&, VectorView<SPACE, const T>,                              \
      VectorView<SPACE, const Wide<T>>, VectorView<SPACE, const Wide<T>>,                          \
      VectorView<SPACE, const T>, double, VectorView<SPACE, const double>,                         \
      VectorView<SPACE, const double>, VectorView<SPACE, Wide<T>>, VectorView<SPACE, T>);          \
  template void batch_norm_backward_parameters<SPACE, T>(                                          \
      const SPACE&, const ChannelGroups&, const Running&, VectorView<SPACE, const Wide<T>>,        \
      VectorView<SPACE, const Wide<T>>, const ChannelParameters<SPACE, T>&, Into);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
