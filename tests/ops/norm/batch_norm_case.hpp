// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation by its definition, and on a space.
#pragma once

#include "ops/norm/batch_norm.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace zygos::ops {

inline constexpr double epsilon = 1e-2;
inline constexpr Running running{.share = 0.25, .global_batch = 40.0};

inline const std::vector<ChannelGroups> shapes{{0, 3, 4, 2},   {1, 1, 1, 1},  {4, 2, 1, 4},
                                               {7, 5, 3, 3},   {9, 1, 33, 9}, {33, 17, 1, 8},
                                               {6, 3, 1001, 4}};

using Values = std::vector<double>;

struct Operands {
  Values x, gamma, beta, d_y, means, variances;
};

template <class T>
Operands random_operands(const ChannelGroups& e) {
  const std::size_t size = e.samples * e.channels * e.positions;
  Operands out{testing::rounded<T>(testing::random_values(size, 1)),
               testing::rounded<T>(testing::random_values(e.channels, 2)),
               testing::rounded<T>(testing::random_values(e.channels, 3)),
               testing::rounded<T>(testing::random_values(size, 4)),
               testing::rounded<T>(testing::random_values(e.channels, 5)),
               testing::rounded<T>(testing::random_values(e.channels, 6))};
  for (double& variance : out.variances) {
    variance = std::abs(variance);
  }
  return out;
}

/// From the definition.
struct Reference {
  Reference(const ChannelGroups& dimensions, const Operands& given,
            double batch = running.global_batch)
      : global_batch(batch),
        y(given.x.size()),
        by(given.x.size()),
        d_x(given.x.size()),
        d_gamma(dimensions.channels, 0.0),
        d_beta(dimensions.channels, 0.0),
        d_mean(dimensions.channels, 0.0),
        d_variance(dimensions.channels, 0.0) {
    for (std::size_t first = 0; first < dimensions.samples; first += dimensions.group) {
      for (std::size_t channel = 0; channel < dimensions.channels; ++channel) {
        add(dimensions, given, first, channel);
      }
    }
  }

  void add(const ChannelGroups& e, const Operands& given, std::size_t first, std::size_t channel) {
    std::vector<std::size_t> all;
    const std::size_t end = std::min(first + e.group, e.samples);
    for (std::size_t sample = first; sample < end; ++sample) {
      for (std::size_t i = 0; i < e.positions; ++i) {
        all.push_back((sample * e.channels + channel) * e.positions + i);
      }
    }
    const auto count = static_cast<double>(all.size());
    double mean = 0.0, variance = 0.0, sum = 0.0, along = 0.0;
    for (const std::size_t i : all) {
      mean += given.x[i] / count;
    }
    for (const std::size_t i : all) {
      variance += (given.x[i] - mean) * (given.x[i] - mean) / count;
    }
    const double scale = 1.0 / std::sqrt(variance + epsilon);
    for (const std::size_t i : all) {
      const double n = (given.x[i] - mean) * scale;
      y[i] = n * given.gamma[channel] + given.beta[channel];
      by[i] = (given.x[i] - given.means[channel]) / std::sqrt(given.variances[channel] + epsilon) *
                  given.gamma[channel] +
              given.beta[channel];
      sum += given.d_y[i];
      along += given.d_y[i] * n;
    }
    for (const std::size_t i : all) {
      const double n = (given.x[i] - mean) * scale;
      d_x[i] = given.gamma[channel] * scale * (given.d_y[i] - sum / count - n * along / count);
    }
    const double share = running.share * static_cast<double>(end - first) / global_batch;
    d_gamma[channel] += along;
    d_beta[channel] += sum;
    d_mean[channel] += share * (given.means[channel] - mean);
    d_variance[channel] +=
        share * (given.variances[channel] - variance * (count > 1 ? count / (count - 1) : 1.0));
  }

  double global_batch;
  Values y, by, d_x, d_gamma, d_beta, d_mean, d_variance;
};

/// Operands and results on a space.
template <class Exec, class T>
struct Run {
  Run(const ChannelGroups& shape, const Operands& given)
      : dimensions(shape),
        x(given.x),
        gamma(given.gamma),
        beta(given.beta),
        d_y(given.d_y),
        means(given.means),
        variances(given.variances),
        y(given.x.size()),
        by(given.x.size()),
        d_x(given.x.size()),
        moments(2 * shape.groups() * shape.channels),
        sums(2 * shape.groups() * shape.channels) {
    for (std::size_t i = 0; i < 4; ++i) {
      d_parameters.emplace_back(Values(shape.channels, 7.0));
    }
  }

  void forward(const Exec& exec) const {
    batch_norm<Exec, T>(exec, dimensions, x.const_vector(), gamma.const_vector(),
                        beta.const_vector(), epsilon, y.vector(), moments.vector());
    batch_norm_by<Exec, T>(exec, dimensions, x.const_vector(), gamma.const_vector(),
                           beta.const_vector(), epsilon, means.const_vector(),
                           variances.const_vector(), by.vector());
  }
  void backward(const Exec& exec, const VectorView<Exec, T>& to) const {
    batch_norm_backward_input<Exec, T>(exec, dimensions, x.const_vector(), gamma.const_vector(),
                                       moments.const_vector(), d_y.const_vector(), epsilon,
                                       sums.vector(), to);
  }
  void parameters(const Exec& exec, Into into) const {
    batch_norm_backward_parameters<Exec, T>(
        exec, dimensions, running, moments.const_vector(), sums.const_vector(),
        {means.const_vector(), variances.const_vector(), d_parameters[0].vector(),
         d_parameters[1].vector(), d_parameters[2].vector(), d_parameters[3].vector()},
        into);
    exec.fence("zygos::test");
  }
  bool guards_intact() const {
    return y.guards_intact() && by.guards_intact() && d_x.guards_intact() &&
           moments.guards_intact() && sums.guards_intact() &&
           std::ranges::all_of(d_parameters, &testing::Buffer<Exec, T>::guards_intact);
  }

  ChannelGroups dimensions;
  testing::Buffer<Exec, T> x, gamma, beta, d_y, means, variances, y, by, d_x, moments, sums;
  std::vector<testing::Buffer<Exec, T>> d_parameters;
};

}  // namespace zygos::ops
