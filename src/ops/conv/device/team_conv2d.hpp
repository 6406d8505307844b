// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of a device: implicit GEMM by teams, whose second operand is the im2col matrix,
// found from a table of taps and one of pixels. Matrix units round weights to bf16. For any space,
// so that tests can run it where there is no device.
#pragma once

#include "ops/common/index_divisor.hpp"
#include "ops/common/launch.hpp"
#include "ops/conv/conv2d.hpp"
#include "ops/conv/device/transposed_filters.hpp"
#include "ops/elementwise/activation_math.hpp"
#include "ops/gemm/device/matrix_gemm.hpp"

#include <algorithm>

namespace zygos::ops {

namespace detail {

/// Where the receptive field of an output pixel begins.
struct FieldPoint {
  std::int64_t plane;  ///< offset of the first channel's plane that is seen
  std::int32_t row;
  std::int32_t column;
};
/// From there to one tap.
struct TapPoint {
  std::int64_t plane;
  std::int32_t row;
  std::int32_t column;
};

/// What indices of a product's pixels and taps are divided by.
struct WindowDivisors {
  IndexDivisor pixels;
  IndexDivisor row_pixels;
  IndexDivisor taps;
  IndexDivisor row_taps;

  template <class T>
  explicit WindowDivisors(const ImplicitGemm<T>& product)
      : pixels(product.pixels()),
        row_pixels(product.x.pixels),
        taps(product.taps()),
        row_taps(product.x.taps) {}
};

/// `pixel`: its row and column in the output.
template <class T>
KOKKOS_INLINE_FUNCTION FieldPoint field_at(const ImplicitGemm<T>& product, std::int64_t group,
                                           std::int64_t sample, const IndexDivisor::Parts& pixel) {
  const WindowAxis& y = product.y;
  const WindowAxis& x = product.x;
  const std::int64_t channel = (sample * product.groups + group) * product.channels;
  return {channel * y.extent * x.extent, static_cast<std::int32_t>(pixel.quotient * y.step + y.first),
          static_cast<std::int32_t>(pixel.rest * x.step + x.first)};
}
/// Of tap k, counted over a group's channels.
template <class T>
KOKKOS_INLINE_FUNCTION TapPoint tap_at(const ImplicitGemm<T>& product,
                                       const WindowDivisors& divisors, std::int64_t k) {
  const IndexDivisor::Parts channel = divisors.taps.divide(k);
  const IndexDivisor::Parts tap = divisors.row_taps.divide(channel.rest);
  return {channel.quotient * product.y.extent * product.x.extent,
          static_cast<std::int32_t>(tap.quotient * product.y.tap_step),
          static_cast<std::int32_t>(tap.rest * product.x.tap_step)};
}
/// An element of the im2col matrix: zero where a tap lies outside of the image.
template <class T>
KOKKOS_INLINE_FUNCTION Wide<T> seen_number(const ImplicitGemm<T>& product, const FieldPoint& field,
                                           const TapPoint& tap) {
  const std::int64_t row = field.row + tap.row;
  const std::int64_t column = field.column + tap.column;
  const bool inside =
      row >= 0 && row < product.y.extent && column >= 0 && column < product.x.extent;
  return inside ? Wide<T>(product.from[field.plane + tap.plane + row * product.x.extent + column])
                : Wide<T>(0);
}

}  // namespace detail

/// An implicit GEMM: rows are result channels, columns the pixels of all samples.
template <class T>
struct WindowTiles {
  static constexpr bool a_along_depth = true;
  static constexpr bool b_along_depth = false;
  struct Column {
    detail::FieldPoint field;
    std::int64_t to;  ///< offset of the pixel in the group's first plane
  };
  struct Depth {
    detail::TapPoint tap;
    std::int64_t k;
  };
  ImplicitGemm<T> product;
  detail::WindowDivisors divisors;
  const Wide<T>* bias;
  Activation activation;
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;

  WindowTiles(const ImplicitGemm<T>& windows, const Wide<T>* biases, Activation function)
      : product(windows),
        divisors(windows),
        bias(biases),
        activation(function),
        batch(windows.groups),
        rows(windows.rows),
        columns(windows.samples * windows.pixels()),
        depth(windows.depth()) {}

  KOKKOS_FUNCTION Column column(std::int64_t group, std::int64_t column) const {
    const WindowAxis& y = product.y;
    const WindowAxis& x = product.x;
    const IndexDivisor::Parts sample = divisors.pixels.divide(column);
    const IndexDivisor::Parts pixel = divisors.row_pixels.divide(sample.rest);
    const std::int64_t plane = (sample.quotient * product.groups + group) * rows;
    return {detail::field_at(product, group, sample.quotient, pixel),
            (plane * y.to_extent + pixel.quotient * y.to_step + y.to_first) * x.to_extent +
                pixel.rest * x.to_step + x.to_first};
  }
  KOKKOS_FUNCTION Depth at_depth(std::int64_t, std::int64_t k) const {
    return {detail::tap_at(product, divisors, k), k};
  }
  KOKKOS_FUNCTION Wide<T> a(std::int64_t group, std::int64_t row, const Depth& at) const {
    return product.weights[(group * rows + row) * depth + at.k];
  }
  KOKKOS_FUNCTION Wide<T> b(const Column& at, const Depth& tap) const {
    return detail::seen_number(product, at.field, tap.tap);
  }
  KOKKOS_FUNCTION void store(std::int64_t group, std::int64_t row, std::int64_t, const Column& at,
                             Wide<T> sum) const {
    const Wide<T> total = bias == nullptr ? sum : sum + bias[group * rows + row];
    product.to[at.to + row * product.y.to_extent * product.x.to_extent] =
        static_cast<T>(activated(activation, total));
  }
};

/// The gradient of an implicit GEMM's weights in chunks of samples: rows are result channels,
/// columns taps, and the sum is over the pixels of a chunk.
template <class T>
struct GradientTiles {
  static constexpr bool a_along_depth = true;
  static constexpr bool b_along_depth = true;
  using Column = detail::TapPoint;
  struct Depth {
    detail::FieldPoint field;
    std::int64_t
        to;  ///< offset of the pixel in the group's first plane; negative beyond the samples
  };
  ImplicitGemm<T> product;
  detail::WindowDivisors divisors;
  IndexDivisor groups;
  std::int64_t chunk;     ///< samples
  Wide<T>* partial_sums;  ///< (chunks, groups, rows, columns)
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;

  GradientTiles(const ImplicitGemm<T>& windows, std::int64_t chunks, Wide<T>* sums)
      : product(windows),
        divisors(windows),
        groups(windows.groups),
        chunk(ceil_div(windows.samples, chunks)),
        partial_sums(sums),
        batch(chunks * windows.groups),
        rows(windows.rows),
        columns(windows.depth()),
        depth(chunk * windows.pixels()) {}

  KOKKOS_FUNCTION Column column(std::int64_t, std::int64_t tap) const {
    return detail::tap_at(product, divisors, tap);
  }
  KOKKOS_FUNCTION Depth at_depth(std::int64_t index, std::int64_t k) const {
    const IndexDivisor::Parts part = groups.divide(index);
    const IndexDivisor::Parts place = divisors.pixels.divide(k);
    const std::int64_t group = part.rest;
    const std::int64_t sample = part.quotient * chunk + place.quotient;
    if (sample >= product.samples) {
      return {{}, -1};
    }
    return {detail::field_at(product, group, sample, divisors.row_pixels.divide(place.rest)),
            (sample * product.groups + group) * rows * (product.y.pixels * product.x.pixels) +
                place.rest};
  }
  KOKKOS_FUNCTION Wide<T> a(std::int64_t, std::int64_t row, const Depth& at) const {
    return at.to < 0 ? Wide<T>(0)
                     : Wide<T>(product.to[at.to + row * product.y.pixels * product.x.pixels]);
  }
  KOKKOS_FUNCTION Wide<T> b(const Column& tap, const Depth& at) const {
    return at.to < 0 ? Wide<T>(0) : detail::seen_number(product, at.field, tap);
  }
  KOKKOS_FUNCTION void store(std::int64_t index, std::int64_t row, std::int64_t column,
                             const Column&, Wide<T> sum) const {
    partial_sums[(index * rows + row) * columns + column] = sum;
  }
};

template <class Exec, class T, TiledBy by = tiled_by<T, Exec>>
void tiled_windows(const char* label, const Exec& exec, const ImplicitGemm<T>& product,
                   const Epilogue<Exec, T>& epilogue) {
  tiled_gemm<T, by>(label, exec,
                    WindowTiles<T>(product, epilogue.bias.data(), epilogue.activation));
}

/// `partial_sums`: as many elements as there are weights, or several times that.
template <class Exec, class T, TiledBy by = tiled_by<T, Exec>>
void tiled_gradient(const Exec& exec, const ImplicitGemm<T>& product,
                    VectorView<Exec, Wide<T>> sums, VectorView<Exec, Wide<T>> d_w, Into into) {
  const auto weights = static_cast<std::int64_t>(d_w.size());
  const std::int64_t room =
      static_cast<std::int64_t>(sums.size()) / std::max<std::int64_t>(weights, 1);
  const std::int64_t chunks =
      std::clamp<std::int64_t>(room, 1, std::max<std::int64_t>(product.samples, 1));
  tiled_gemm<T, by>("zygos::ops::conv2d_backward_filter", exec,
                    GradientTiles<T>(product, chunks, sums.data()));
  const Wide<T>* const from = sums.data();
  Wide<T>* const to = d_w.data();
  const bool adds = into == Into::added;
  Kokkos::parallel_for(
      "zygos::ops::conv2d_add_up", ElementRange<Exec>(exec, 0, d_w.size()),
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
