// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The geometry of convolutions, for every space.
#include "ops/conv/conv2d.hpp"

#include "ops/conv/host/im2col_panel.hpp"

#include <numeric>

namespace zygos::ops {
namespace {

WindowAxis forward_axis(const ConvAxis& axis) {
  return {.extent = axis.input,
          .taps = axis.kernel,
          .first = -axis.padding,
          .tap_step = axis.dilation,
          .pixels = axis.output(),
          .step = axis.stride,
          .to_extent = axis.output()};
}

struct AxisPhase {
  WindowAxis window;
  std::int64_t first_tap;
  std::int64_t step_of_taps;
};

/// Input coordinates r, r + stride, ...: output o reached them through tap k where
/// o * stride + k * dilation - padding is the coordinate, so k is the same modulo stride / gcd.
AxisPhase input_axis(const ConvAxis& axis, std::int64_t r) {
  const std::int64_t divisor = std::gcd(axis.stride, axis.dilation);
  const std::int64_t step = axis.stride / divisor;
  std::int64_t first = 0;
  while (first < axis.kernel && first < step &&
         (r + axis.padding - first * axis.dilation) % axis.stride != 0) {
    ++first;
  }
  const bool none = first >= axis.kernel || first >= step;
  return {{.extent = axis.output(),
           .taps = none ? 0 : (axis.kernel - first + step - 1) / step,
           .first = none ? 0 : (r + axis.padding - first * axis.dilation) / axis.stride,
           .tap_step = -(axis.dilation / divisor),
           .pixels = (axis.input - r + axis.stride - 1) / axis.stride,
           .step = 1,
           .to_extent = axis.input,
           .to_first = r,
           .to_step = axis.stride},
          first,
          step};
}

}  // namespace

bool fits(const Conv2d& conv) {
  // Far more than fits, and what a plan makes of it has more than 64 bits.
  if (static_cast<double>(conv.y.window()) * static_cast<double>(conv.x.window()) > 0x1p40) {
    return false;
  }
  const WindowAxis y = forward_axis(conv.y);
  const WindowAxis x = forward_axis(conv.x);
  return PanelPlan(y, x, {max_pixels, max_pixels}).channels() > 0;
}

template <class T>
ImplicitGemm<T> forward_gemm(const Conv2d& conv, const Wide<T>* w, const T* x, T* y) {
  return {.samples = conv.samples,
          .groups = conv.groups,
          .channels = conv.channels / conv.groups,
          .rows = conv.filters / conv.groups,
          .y = forward_axis(conv.y),
          .x = forward_axis(conv.x),
          .weights = w,
          .from = x,
          .to = y};
}

ConvPhase input_phase(const Conv2d& conv, std::int64_t index) {
  std::int64_t at = 0;
  for (std::int64_t i = 0;; ++i) {
    const AxisPhase y = input_axis(conv.y, i / conv.x.stride);
    const AxisPhase x = input_axis(conv.x, i % conv.x.stride);
    const ConvPhase phase{conv,           y.window,    x.window,       y.first_tap,
                          y.step_of_taps, x.first_tap, x.step_of_taps, at};
    if (i == index) {
      return phase;
    }
    at += phase.weights();
  }
}

template <class T>
ImplicitGemm<T> input_gradient_gemm(const ConvPhase& phase, const Wide<T>* w, const T* d_y,
                                    T* d_x) {
  const Conv2d& conv = phase.conv;
  return {.samples = conv.samples,
          .groups = conv.groups,
          .channels = conv.filters / conv.groups,
          .rows = conv.channels / conv.groups,
          .y = phase.y,
          .x = phase.x,
          .weights = w,
          .from = d_y,
          .to = d_x};
}

template ImplicitGemm<float> forward_gemm<float>(const Conv2d&, const float*, const float*, float*);
template ImplicitGemm<double> forward_gemm<double>(const Conv2d&, const double*, const double*,
                                                   double*);
template ImplicitGemm<float> input_gradient_gemm<float>(const ConvPhase&, const float*,
                                                        const float*, float*);
template ImplicitGemm<double> input_gradient_gemm<double>(const ConvPhase&, const double*,
                                                          const double*, double*);

template ImplicitGemm<bf16> forward_gemm<bf16>(const Conv2d&, const float*, const bf16*, bf16*);
template ImplicitGemm<bf16> input_gradient_gemm<bf16>(const ConvPhase&, const float*, const bf16*,
                                                      bf16*);

}  // namespace zygos::ops
