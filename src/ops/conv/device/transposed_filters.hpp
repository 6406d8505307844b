// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The filters of a convolution as the gradient of its input reads them: (filters, channels, taps)
// become (channels, filters, taps), of the taps that count in a phase.
#pragma once

#include "ops/common/blocking.hpp"
#include "ops/common/index_divisor.hpp"
#include "ops/common/launch.hpp"
#include "ops/conv/conv2d.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace zygos::ops {
namespace detail {

/// Channels, and filters, of a block: what is read and what is written are whole lines both.
inline constexpr std::int64_t filters_together = 16;
inline constexpr std::int64_t longest_run = 32;

/// A channel's part of a block; places are those of the first filter's taps.
template <class T>
struct TransposedRow {
  const T* from;
  std::int64_t from_step;  ///< to the next filter
  T* to;
  std::int64_t to_step;
};

/// Filters whose taps lie side by side, `numbers` at a time though there may be fewer: the next
/// filter's come after them. The last one of all is not for this.
template <std::size_t numbers, class T>
void copy_runs(const TransposedRow<T>& row, std::int64_t filters) {
  const T* from = row.from;
  T* to = row.to;
  for (std::int64_t i = 0; i < filters; ++i, from += row.from_step, to += row.to_step) {
    std::array<T, numbers> run;
    std::copy_n(from, numbers, run.data());
    std::copy_n(run.data(), numbers, to);
  }
}

template <class T>
void copy_taps(const ConvPhase& phase, const TransposedRow<T>& row, std::int64_t filters) {
  for (std::int64_t i = 0; i < filters; ++i) {
    phase.copy_taps(row.from + i * row.from_step, row.to + i * row.to_step);
  }
}

/// `ends`: whether these are a channel's last filters.
template <class T>
void transpose_row(const ConvPhase& phase, const TransposedRow<T>& row, std::int64_t filters,
                   bool ends) {
  const std::int64_t taps = phase.taps();
  if (!phase.in_a_run() || taps > longest_run) {
    return copy_taps(phase, row, filters);
  }
  const std::int64_t runs = filters - (ends ? 1 : 0);
  // The power of two from the taps' number on is less than twice that: no run reaches beyond the
  // next filter.
  if (taps > 16) {
    copy_runs<32>(row, runs);
  } else if (taps > 8) {
    copy_runs<16>(row, runs);
  } else if (taps > 4) {
    copy_runs<8>(row, runs);
  } else if (taps > 2) {
    copy_runs<4>(row, runs);
  } else if (taps == 2) {
    copy_runs<2>(row, runs);
  } else {
    copy_runs<1>(row, runs);
  }
  if (ends) {
    copy_taps(phase,
              TransposedRow<T>{row.from + runs * row.from_step, row.from_step,
                               row.to + runs * row.to_step, row.to_step},
              1);
  }
}

}  // namespace detail

/// `from`: the weights of a convolution; `to`: those of its phase.
template <HostSpace Exec, class T>
void transpose_filters(const Exec& exec, const ConvPhase& phase, const T* from, T* to) {
  using detail::filters_together;
  if (phase.weights() == 0) {
    return;
  }
  const std::int64_t filters = phase.filters();
  const std::int64_t block = filters_together * filters * phase.taps();
  for_each_piece("zygos::ops::transpose_filters", exec,
                 ceil_div(phase.conv.channels, filters_together),
                 std::max<std::int64_t>(static_cast<std::int64_t>(chunk::light) / block, 1),
                 [&](std::int64_t piece) {
                   const std::int64_t begin = piece * filters_together;
                   const std::int64_t end = std::min(begin + filters_together, phase.conv.channels);
                   for (std::int64_t filter = 0; filter < filters; filter += filters_together) {
                     const std::int64_t count = std::min(filters_together, filters - filter);
                     for (std::int64_t channel = begin; channel < end; ++channel) {
                       const detail::TransposedRow<T> row{
                           from + phase.from(channel, filter), phase.from_step(),
                           to + phase.to(channel, filter), phase.taps()};
                       detail::transpose_row(phase, row, count, filter + count == filters);
                     }
                   }
                 });
}

template <DeviceSpace Exec, class T>
void transpose_filters(const Exec& exec, const ConvPhase& phase, const T* from, T* to) {
  const IndexDivisor filters(phase.filters());
  for_each_element(
      "zygos::ops::transpose_filters", exec, static_cast<std::size_t>(phase.kernels()),
      chunk::heavy, KOKKOS_LAMBDA(const std::size_t i) {
        const IndexDivisor::Parts kernel = filters.divide(static_cast<std::int64_t>(i));
        const std::int64_t channel = kernel.quotient;
        const std::int64_t filter = kernel.rest;
        phase.copy_taps(from + phase.from(channel, filter), to + phase.to(channel, filter));
      });
}

}  // namespace zygos::ops
