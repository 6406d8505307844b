// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of a device: implicit GEMM by teams, whose second operand is the im2col matrix,
// element by element. For any space, so that tests can run it where there is no device.
#pragma once

#include "ops/common/launch.hpp"
#include "ops/conv/conv2d.hpp"
#include "ops/conv/device/transposed_filters.hpp"
#include "ops/elementwise/activation_math.hpp"
#include "ops/gemm/device/team_gemm.hpp"

#include <algorithm>

namespace zygos::ops {

/// The element of the im2col matrix at tap k of a group's channels and pixel q of a sample.
template <class T>
KOKKOS_INLINE_FUNCTION Wide<T> seen_number(const ImplicitGemm<T>& product, std::int64_t group,
                                           std::int64_t sample, std::int64_t k, std::int64_t q) {
  const WindowAxis& y = product.y;
  const WindowAxis& x = product.x;
  const std::int64_t taps = y.taps * x.taps;
  const std::int64_t row = q / x.pixels * y.step + y.first + k % taps / x.taps * y.tap_step;
  const std::int64_t column = q % x.pixels * x.step + x.first + k % x.taps * x.tap_step;
  if (row < 0 || row >= y.extent || column < 0 || column >= x.extent) {
    return Wide<T>(0);
  }
  const std::int64_t channel = (sample * product.groups + group) * product.channels + k / taps;
  return product.from[(channel * y.extent + row) * x.extent + column];
}

/// An implicit GEMM: rows are result channels, columns the pixels of all samples.
template <Activation which, class T>
struct WindowTiles {
  ImplicitGemm<T> product;
  const Wide<T>* bias;
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;

  WindowTiles(const ImplicitGemm<T>& windows, const Wide<T>* biases)
      : product(windows),
        bias(biases),
        batch(windows.groups),
        rows(windows.rows),
        columns(windows.samples * windows.pixels()),
        depth(windows.depth()) {}

  KOKKOS_FUNCTION Wide<T> a(std::int64_t group, std::int64_t row, std::int64_t k) const {
    return product.weights[(group * rows + row) * depth + k];
  }
  KOKKOS_FUNCTION Wide<T> b(std::int64_t group, std::int64_t k, std::int64_t column) const {
    const std::int64_t pixels = product.y.pixels * product.x.pixels;
    return seen_number(product, group, column / pixels, k, column % pixels);
  }
  KOKKOS_FUNCTION void store(std::int64_t group, std::int64_t row, std::int64_t column,
                             Wide<T> sum) const {
    const WindowAxis& y = product.y;
    const WindowAxis& x = product.x;
    const std::int64_t pixels = y.pixels * x.pixels;
    const std::int64_t q = column % pixels;
    const std::int64_t channel = group * rows + row;
    const std::int64_t plane = column / pixels * product.groups * rows + channel;
    product.to[(plane * y.to_extent + q / x.pixels * y.to_step + y.to_first) * x.to_extent +
               q % x.pixels * x.to_step + x.to_first] =
        static_cast<T>(activated<which>(bias == nullptr ? sum : sum + bias[channel]));
  }
};

/// The gradient of an implicit GEMM's weights in chunks of samples: rows are result channels,
/// columns taps, and the sum is over the pixels of a chunk.
template <class T>
struct GradientTiles {
  ImplicitGemm<T> product;
  std::int64_t chunk;     ///< samples
  Wide<T>* partial_sums;  ///< (chunks, groups, rows, columns)
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;

  GradientTiles(const ImplicitGemm<T>& windows, std::int64_t chunks, Wide<T>* sums)
      : product(windows),
        chunk(ceil_div(windows.samples, chunks)),
        partial_sums(sums),
        batch(chunks * windows.groups),
        rows(windows.rows),
        columns(windows.depth()),
        depth(chunk * windows.pixels()) {}

  KOKKOS_FUNCTION Wide<T> a(std::int64_t index, std::int64_t row, std::int64_t k) const {
    const std::int64_t pixels = product.y.pixels * product.x.pixels;
    const std::int64_t sample = index / product.groups * chunk + k / pixels;
    const std::int64_t plane = (sample * product.groups + index % product.groups) * rows + row;
    return sample < product.samples ? Wide<T>(product.to[plane * pixels + k % pixels]) : Wide<T>(0);
  }
  KOKKOS_FUNCTION Wide<T> b(std::int64_t index, std::int64_t k, std::int64_t column) const {
    const std::int64_t pixels = product.y.pixels * product.x.pixels;
    const std::int64_t sample = index / product.groups * chunk + k / pixels;
    return sample < product.samples
               ? seen_number(product, index % product.groups, sample, column, k % pixels)
               : Wide<T>(0);
  }
  KOKKOS_FUNCTION void store(std::int64_t index, std::int64_t row, std::int64_t column,
                             Wide<T> sum) const {
    partial_sums[(index * rows + row) * columns + column] = sum;
  }
};

template <class Exec, class T>
void tiled_windows(const char* label, const Exec& exec, const ImplicitGemm<T>& product,
                   const Epilogue<Exec, T>& epilogue) {
  with_activation(epilogue.activation, [&](auto constant) {
    team_gemm<Wide<T>>(label, exec,
                       WindowTiles<decltype(constant)::value, T>(product, epilogue.bias.data()));
  });
}

/// `partial_sums`: as many elements as there are weights, or several times that.
template <class Exec, class T>
void tiled_gradient(const Exec& exec, const ImplicitGemm<T>& product,
                    VectorView<Exec, Wide<T>> sums, VectorView<Exec, Wide<T>> d_w, Into into) {
  const auto weights = static_cast<std::int64_t>(d_w.size());
  const std::int64_t room =
      static_cast<std::int64_t>(sums.size()) / std::max<std::int64_t>(weights, 1);
  const std::int64_t chunks =
      std::clamp<std::int64_t>(room, 1, std::max<std::int64_t>(product.samples, 1));
  team_gemm<Wide<T>>("zygos::ops::conv2d_backward_filter", exec,
                     GradientTiles<T>(product, chunks, sums.data()));
  const Wide<T>* const from = sums.data();
  Wide<T>* const to = d_w.data();
  const bool adds = into == Into::added;
  Kokkos::parallel_for(
      "zygos::ops::conv2d_add_up", Kokkos::RangePolicy<Exec>(exec, 0, d_w.size()),
      KOKKOS_LAMBDA(const std::size_t i) {
        Wide<T> sum = adds ? to[i] : Wide<T>(0);
        for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
          sum += from[chunk * weights + static_cast<std::int64_t>(i)];
        }
        to[i] = sum;
      });
}

/// f(implicit GEMM) for the phases of an input's gradient, their weights transposed before.
template <class Exec, class T, class F>
void for_each_phase(const Exec& exec, const Conv2d& conv, VectorView<Exec, const T> d_y,
                    VectorView<Exec, const Wide<T>> w, VectorView<Exec, Wide<T>> transposed,
                    VectorView<Exec, T> d_x, const F& f) {
  for (std::int64_t index = 0; index < conv.y.stride * conv.x.stride; ++index) {
    const ConvPhase phase = input_phase(conv, index);
    Wide<T>* const weights = transposed.data() + phase.at;
    transpose_filters(exec, phase, w.data(), weights);
    f(input_gradient_gemm<T>(phase, weights, d_y.data(), d_x.data()));
  }
}

}  // namespace zygos::ops
