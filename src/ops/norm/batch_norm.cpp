// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/norm/batch_norm.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/launch.hpp"
#include "ops/norm/channel_kernels.hpp"

#include "zygos/core/error.hpp"

namespace zygos::ops {
namespace {

template <class T>
struct NormaliseByOwn {
  NormaliseChannel<T> channel;
  Wide<T>* moments;

  template <class Threads>
  KOKKOS_INLINE_FUNCTION void operator()(const Threads& threads, std::size_t index) const {
    const ChannelPart part(channel.dimensions, index);
    const ChannelMoments own = moments_of(threads, part, channel.x + part.begin);
    moments[2 * index] = static_cast<Wide<T>>(own.mean);
    moments[2 * index + 1] = static_cast<Wide<T>>(own.variance);
    channel.write(threads, part, moments[2 * index], moments[2 * index + 1]);
  }
};

template <class T>
struct NormaliseByGiven {
  NormaliseChannel<T> channel;
  const Wide<T>* means;
  const Wide<T>* variances;

  template <class Threads>
  KOKKOS_INLINE_FUNCTION void operator()(const Threads& threads, std::size_t index) const {
    const ChannelPart part(channel.dimensions, index);
    channel.write(threads, part, means[part.channel], variances[part.channel]);
  }
};

template <class T>
struct InputGradient {
  GradientChannel<T> channel;
  Wide<T>* sums;

  template <class Threads>
  KOKKOS_INLINE_FUNCTION void operator()(const Threads& threads, std::size_t index) const {
    const ChannelPart part(channel.dimensions, index);
    const GradientSums own = channel.sums(threads, part, index);
    sums[2 * index] = static_cast<Wide<T>>(own.along);
    sums[2 * index + 1] = static_cast<Wide<T>>(own.total);
    channel.write(threads, part, index, own, part.count());
  }
};

template <class Exec, class T>
struct ParameterGradient {
  ChannelGroups dimensions;
  Running running;
  std::size_t groups;
  const Wide<T>* moments;
  const Wide<T>* sums;
  ChannelParameters<Exec, T> parameters;
  bool adds;

  KOKKOS_FUNCTION void operator()(const std::size_t channel) const {
    double gamma = 0.0, beta = 0.0, mean = 0.0, variance = 0.0;
    for (std::size_t group = 0; group < groups; ++group) {
      const std::size_t index = group * dimensions.channels + channel;
      const ChannelPart part(dimensions, group, channel);
      gamma += static_cast<double>(sums[2 * index]);
      beta += static_cast<double>(sums[2 * index + 1]);
      const double share = running.share * static_cast<double>(part.samples) / running.global_batch;
      const double values = running.together
                                ? running.global_batch * static_cast<double>(dimensions.positions)
                                : part.count();
      const double unbiased = values > 1.0 ? values / (values - 1.0) : 1.0;
      mean += share * (static_cast<double>(parameters.means[channel]) -
                       static_cast<double>(moments[2 * index]));
      variance += share * (static_cast<double>(parameters.variances[channel]) -
                           unbiased * static_cast<double>(moments[2 * index + 1]));
    }
    put(parameters.d_gamma, channel, gamma);
    put(parameters.d_beta, channel, beta);
    put(parameters.d_mean, channel, mean);
    put(parameters.d_variance, channel, variance);
  }

  KOKKOS_FUNCTION void put(const VectorView<Exec, Wide<T>>& to, std::size_t channel,
                           double sum) const {
    // Not a factor: what is there before the first sum may be NaN.
    to[channel] = (adds ? to[channel] : Wide<T>(0)) + static_cast<Wide<T>>(sum);
  }
};

}  // namespace

template <class Exec, class T>
void batch_norm(const Exec& exec, const ChannelGroups& dimensions, VectorView<Exec, const T> x,
                VectorView<Exec, const Wide<T>> gamma, VectorView<Exec, const Wide<T>> beta,
                double epsilon, VectorView<Exec, T> y, VectorView<Exec, Wide<T>> moments) {
  ZYGOS_REQUIRE(x.size() == y.size() &&
                    x.size() == dimensions.samples * dimensions.channels * dimensions.positions &&
                    moments.size() >= 2 * dimensions.groups() * dimensions.channels,
                "ops::batch_norm: dimensions do not fit");
  for_each_channel(
      "zygos::ops::batch_norm", exec, dimensions,
      NormaliseByOwn<T>{{dimensions, x.data(), gamma.data(), beta.data(), epsilon, y.data()},
                        moments.data()});
}

template <class Exec, class T>
void batch_norm_by(const Exec& exec, const ChannelGroups& dimensions, VectorView<Exec, const T> x,
                   VectorView<Exec, const Wide<T>> gamma, VectorView<Exec, const Wide<T>> beta,
                   double epsilon, VectorView<Exec, const Wide<T>> means,
                   VectorView<Exec, const Wide<T>> variances, VectorView<Exec, T> y) {
  ZYGOS_REQUIRE(x.size() == y.size() && means.size() == dimensions.channels &&
                    variances.size() == dimensions.channels,
                "ops::batch_norm_by: dimensions do not fit");
  for_each_channel(
      "zygos::ops::batch_norm_by", exec, dimensions,
      NormaliseByGiven<T>{{dimensions, x.data(), gamma.data(), beta.data(), epsilon, y.data()},
                          means.data(),
                          variances.data()});
}

template <class Exec, class T>
void batch_norm_backward_input(const Exec& exec, const ChannelGroups& dimensions,
                               VectorView<Exec, const T> x, VectorView<Exec, const Wide<T>> gamma,
                               VectorView<Exec, const Wide<T>> moments,
                               VectorView<Exec, const T> d_y, double epsilon,
                               VectorView<Exec, Wide<T>> sums, VectorView<Exec, T> d_x) {
  ZYGOS_REQUIRE(x.size() == d_y.size() && (d_x.size() == 0 || d_x.size() == x.size()) &&
                    sums.size() >= 2 * dimensions.groups() * dimensions.channels,
                "ops::batch_norm_backward_input: dimensions do not fit");
  for_each_channel("zygos::ops::batch_norm_backward_input", exec, dimensions,
                   InputGradient<T>{{dimensions, x.data(), gamma.data(), moments.data(), d_y.data(),
                                     epsilon, d_x.size() == 0 ? nullptr : d_x.data()},
                                    sums.data()});
}

template <class Exec, class T>
void batch_norm_backward_parameters(const Exec& exec, const ChannelGroups& dimensions,
                                    const Running& running, VectorView<Exec, const Wide<T>> moments,
                                    VectorView<Exec, const Wide<T>> sums,
                                    const ChannelParameters<Exec, T>& parameters, Into into) {
  for_each_element(
      "zygos::ops::batch_norm_backward_parameters", exec, dimensions.channels, chunk::medium,
      ParameterGradient<Exec, T>{dimensions, running, dimensions.groups(), moments.data(),
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
  template void batch_norm_backward_parameters<SPACE, T>(                                          \
      const SPACE&, const ChannelGroups&, const Running&, VectorView<SPACE, const Wide<T>>,        \
      VectorView<SPACE, const Wide<T>>, const ChannelParameters<SPACE, T>&, Into);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
