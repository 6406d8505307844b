// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of a device: implicit matrix products, whose second operand is the image as windows
// see it. For any space, so that tests can run them where there is no device.
#pragma once

#include "ops/activation_math.hpp"
#include "ops/conv2d.hpp"
#include "ops/launch.hpp"
#include "ops/tiled_product.hpp"
#include "ops/turned_filters.hpp"

#include <algorithm>

namespace zygos::ops {

/// What tap k of a group's channels sees at position q of a sample.
template <class T>
KOKKOS_INLINE_FUNCTION Wide<T> seen_number(const WindowProduct<T>& product, std::int64_t group,
                                           std::int64_t sample, std::int64_t k, std::int64_t q) {
  const WindowAxis& y = product.y;
  const WindowAxis& x = product.x;
  const std::int64_t taps = y.taps * x.taps;
  const std::int64_t row = q / x.positions * y.step + y.first + k % taps / x.taps * y.tap_step;
  const std::int64_t column = q % x.positions * x.step + x.first + k % x.taps * x.tap_step;
  if (row < 0 || row >= y.extent || column < 0 || column >= x.extent) {
    return Wide<T>(0);
  }
  const std::int64_t channel = (sample * product.groups + group) * product.channels + k / taps;
  return product.from[(channel * y.extent + row) * x.extent + column];
}

/// A window product: rows are result channels, columns the positions of all samples.
template <Activation which, class T>
struct WindowTiles {
  WindowProduct<T> product;
  const Wide<T>* bias;
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;

  WindowTiles(const WindowProduct<T>& windows, const Wide<T>* biases)
      : product(windows),
        bias(biases),
        batch(windows.groups),
        rows(windows.rows),
        columns(windows.samples * windows.positions()),
        depth(windows.depth()) {}

  KOKKOS_FUNCTION Wide<T> a(std::int64_t group, std::int64_t row, std::int64_t k) const {
    return product.weights[(group * rows + row) * depth + k];
  }
  KOKKOS_FUNCTION Wide<T> b(std::int64_t group, std::int64_t k, std::int64_t column) const {
    const std::int64_t positions = product.y.positions * product.x.positions;
    return seen_number(product, group, column / positions, k, column % positions);
  }
  KOKKOS_FUNCTION void store(std::int64_t group, std::int64_t row, std::int64_t column,
                             Wide<T> sum) const {
    const WindowAxis& y = product.y;
    const WindowAxis& x = product.x;
    const std::int64_t positions = y.positions * x.positions;
    const std::int64_t q = column % positions;
    const std::int64_t channel = group * rows + row;
    const std::int64_t plane = column / positions * product.groups * rows + channel;
    product.to[(plane * y.to_extent + q / x.positions * y.to_step + y.to_first) * x.to_extent +
               q % x.positions * x.to_step + x.to_first] =
        static_cast<T>(activated<which>(bias == nullptr ? sum : sum + bias[channel]));
  }
};

/// The gradient of a window product's weights in chunks of samples: rows are result channels,
/// columns taps, and the sum is over the positions of a chunk.
template <class T>
struct GradientTiles {
  WindowProduct<T> product;
  std::int64_t chunk;     ///< samples
  Wide<T>* partial_sums;  ///< (chunks, groups, rows, columns)
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;

  GradientTiles(const WindowProduct<T>& windows, std::int64_t chunks, Wide<T>* sums)
      : product(windows),
        chunk(divided_up(windows.samples, chunks)),
        partial_sums(sums),
        batch(chunks * windows.groups),
        rows(windows.rows),
        columns(windows.depth()),
        depth(chunk * windows.positions()) {}

  KOKKOS_FUNCTION Wide<T> a(std::int64_t index, std::int64_t row, std::int64_t k) const {
    const std::int64_t positions = product.y.positions * product.x.positions;
    const std::int64_t sample = index / product.groups * chunk + k / positions;
    const std::int64_t plane = (sample * product.groups + index % product.groups) * rows + row;
    return sample < product.samples ? Wide<T>(product.to[plane * positions + k % positions])
                                    : Wide<T>(0);
  }
  KOKKOS_FUNCTION Wide<T> b(std::int64_t index, std::int64_t k, std::int64_t column) const {
    const std::int64_t positions = product.y.positions * product.x.positions;
    const std::int64_t sample = index / product.groups * chunk + k / positions;
    return sample < product.samples
               ? seen_number(product, index % product.groups, sample, column, k % positions)
               : Wide<T>(0);
  }
  KOKKOS_FUNCTION void store(std::int64_t index, std::int64_t row, std::int64_t column,
                             Wide<T> sum) const {
    partial_sums[(index * rows + row) * columns + column] = sum;
  }
};

template <class Exec, class T>
void tiled_windows(const char* label, const Exec& exec, const WindowProduct<T>& product,
                   const Epilogue<Exec, T>& epilogue) {
  with_activation(epilogue.activation, [&](auto constant) {
    tiled_product<Wide<T>>(
        label, exec, WindowTiles<decltype(constant)::value, T>(product, epilogue.bias.data()));
  });
}

/// `partial_sums`: as many numbers as there are weights, or several times that.
template <class Exec, class T>
void tiled_gradient(const Exec& exec, const WindowProduct<T>& product,
                    VectorView<Exec, Wide<T>> sums, VectorView<Exec, Wide<T>> d_w, Into into) {
  const auto weights = static_cast<std::int64_t>(d_w.size());
  const std::int64_t room =
      static_cast<std::int64_t>(sums.size()) / std::max<std::int64_t>(weights, 1);
  const std::int64_t chunks =
      std::clamp<std::int64_t>(room, 1, std::max<std::int64_t>(product.samples, 1));
  tiled_product<Wide<T>>("zygos::ops::conv2d_backward_filter", exec,
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

/// f(window product) for the phases of an input's gradient, their weights turned before.
template <class Exec, class T, class F>
void for_each_phase(const Exec& exec, const Conv2d& conv, VectorView<Exec, const T> d_y,
                    VectorView<Exec, const Wide<T>> w, VectorView<Exec, Wide<T>> turned,
                    VectorView<Exec, T> d_x, const F& f) {
  for (std::int64_t index = 0; index < conv.y.stride * conv.x.stride; ++index) {
    const ConvPhase phase = input_phase(conv, index);
    Wide<T>* const weights = turned.data() + phase.at;
    turn_filters(exec, phase, w.data(), weights);
    f(input_product<T>(phase, weights, d_y.data(), d_x.data()));
  }
}

}  // namespace zygos::ops
