// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Which of the ways to sum up the gradient of a window product's weights is least work.
#pragma once

#include "ops/channel_gradient.hpp"
#include "ops/sample_gradient.hpp"
#include "ops/window_gradient.hpp"

#include <algorithm>
#include <type_traits>

namespace zygos::ops {

/// What neighbours in a register are.
enum class GradientWay { positions, samples, channels };

/// bf16 goes by positions: what is turned isn't widened.
template <class T>
GradientWay gradient_way(const WindowProduct<T>& product) {
  if constexpr (std::is_same_v<T, Wide<T>>) {
    const double by_positions = WindowGradient<T>::cycles(product);
    const double by_samples = SampleGradient<T>::cycles(product);
    if (ChannelGradient<T>::cycles(product) < std::min(by_positions, by_samples)) {
      return GradientWay::channels;
    }
    return by_samples < by_positions ? GradientWay::samples : GradientWay::positions;
  }
  return GradientWay::positions;
}

/// Numbers that partial sums need, whichever way; fewer samples may go another one.
template <class T>
std::int64_t gradient_numbers(const WindowProduct<T>& product) {
  const std::int64_t numbers = WindowGradient<T>::partial_numbers(product);
  if constexpr (std::is_same_v<T, Wide<T>>) {
    return std::max({numbers, SampleGradient<T>::partial_numbers(product),
                     ChannelGradient<T>::partial_numbers(product)});
  }
  return numbers;
}

}  // namespace zygos::ops
