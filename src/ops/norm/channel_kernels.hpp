// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What kernels of batch normalisation are made of. A host core, or a device's team, has one channel
// of one group: what it reads twice is still in a near cache.
#pragma once

#include "ops/common/row_reduction.hpp"
#include "ops/norm/batch_norm.hpp"

#include <algorithm>

namespace zygos::ops {

/// One channel of one group: where it begins, and its samples.
struct ChannelPart {
  KOKKOS_FUNCTION ChannelPart(const ChannelGroups& dimensions, std::size_t index)
      : ChannelPart(dimensions, index / dimensions.channels, index % dimensions.channels) {}
  KOKKOS_FUNCTION ChannelPart(const ChannelGroups& dimensions, std::size_t group,
                              std::size_t channel_)
      : channel(channel_),
        stride(dimensions.channels * dimensions.positions),
        positions(dimensions.positions) {
    const std::size_t first = group * dimensions.group;
    const std::size_t left = dimensions.samples - first;
    samples = left < dimensions.group ? left : dimensions.group;
    begin = first * stride + channel * positions;
  }
  KOKKOS_FUNCTION double count() const { return static_cast<double>(samples * positions); }

  std::size_t channel;
  std::size_t stride;  ///< from sample to sample
  std::size_t positions;
  std::size_t samples;
  std::size_t begin;
};

struct ChannelMoments {
  double mean;
  double variance;
};

/// Of one channel of one group, which begins at `in`.
template <class T, class Threads>
KOKKOS_INLINE_FUNCTION ChannelMoments moments_of(const Threads& threads, const ChannelPart& part,
                                                 const T* in) {
  const std::size_t stride = part.stride;
  const double mean = threads.sum(part.samples, part.positions,
                                  [=](std::size_t sample, std::size_t i) {
                                    return static_cast<double>(in[sample * stride + i]);
                                  }) /
                      part.count();
  const double variance = threads.sum(part.samples, part.positions,
                                      [=](std::size_t sample, std::size_t i) {
                                        const double distance =
                                            static_cast<double>(in[sample * stride + i]) - mean;
                                        return distance * distance;
                                      }) /
                          part.count();
  return {mean, variance};
}

template <class T>
struct NormaliseChannel {
  ChannelGroups dimensions;
  const T* x;
  const Wide<T>* gamma;
  const Wide<T>* beta;
  double epsilon;
  T* y;

  /// y from x's mean and variance.
  template <class Threads>
  KOKKOS_INLINE_FUNCTION void write(const Threads& threads, const ChannelPart& part, Wide<T> mean,
                                    Wide<T> variance) const {
    const Wide<T> scale =
        static_cast<Wide<T>>(1.0 / Kokkos::sqrt(static_cast<double>(variance) + epsilon)) *
        gamma[part.channel];
    const Wide<T> plus = beta[part.channel];
    const T* const in = x + part.begin;
    T* const out = y + part.begin;
    const std::size_t stride = part.stride;
    threads.each(part.samples, part.positions, [=](std::size_t sample, std::size_t i) {
      const std::size_t at = sample * stride + i;
      out[at] = static_cast<T>((in[at] - mean) * scale + plus);
    });
  }
};

/// Of d_y n and of d_y.
struct GradientSums {
  double along;
  double total;
};

template <class T>
struct GradientChannel {
  ChannelGroups dimensions;
  const T* x;
  const Wide<T>* gamma;
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

  /// d_x = s gamma (d_y - mean(d_y) - n mean(d_y n)), with s = 1 / sqrt(variance + epsilon), from
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
    const Wide<T> by = steep * gamma[part.channel];
    const auto tilt = static_cast<Wide<T>>(sums.along / count);
    const auto mean = static_cast<Wide<T>>(sums.total / count);
    threads.each(part.samples, part.positions, [=](std::size_t sample, std::size_t i) {
      const std::size_t at = sample * stride + i;
      out[at] = static_cast<T>(by * (from[at] - mean - (in[at] - middle) * steep * tilt));
    });
  }
};

template <class Exec, class Body>
void for_each_channel(const char* label, const Exec& exec, const ChannelGroups& dimensions,
                      const Body& body) {
  for_each_row(label, exec, dimensions.groups() * dimensions.channels,
               std::min(dimensions.group, dimensions.samples) * dimensions.positions, body);
}

}  // namespace zygos::ops
