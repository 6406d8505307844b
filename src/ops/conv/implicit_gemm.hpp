// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Implicit GEMM: weights times the im2col matrix of an image, which is never stored whole. A
// convolution, its gradient with respect to its input, and a transposed convolution are all one.
#pragma once

#include "zygos/core/bf16.hpp"

#include <cstdint>
#include <cstdlib>

namespace zygos::ops {

/// One axis. The receptive field of output pixel q is the source at q * step + first + i * tap_step
/// for i < taps (zero outside of [0, extent)); its result is stored at q * to_step + to_first.
struct WindowAxis {
  std::int64_t extent;  ///< of the source
  std::int64_t taps;
  std::int64_t first;
  std::int64_t tap_step;  ///< negative in a gradient
  std::int64_t pixels;
  std::int64_t step;
  std::int64_t to_extent;
  std::int64_t to_first = 0;
  std::int64_t to_step = 1;

  /// Source coordinates from the lowest tap of a pixel to its highest.
  std::int64_t span() const { return taps == 0 ? 0 : (taps - 1) * std::abs(tap_step); }
  /// How far the lowest tap is before the one numbered 0: zero or negative.
  std::int64_t lowest() const { return tap_step < 0 ? -span() : 0; }
  /// Source coordinates of the receptive field of `count` neighbouring output pixels.
  std::int64_t receptive_field(std::int64_t count) const { return (count - 1) * step + span() + 1; }
};

/// to (samples, groups * rows, ...) = weights (groups, rows, channels * taps) times the receptive
/// fields of from (samples, groups * channels, ...). All row major. Of bf16, weights are floats
/// that are not rounded.
template <class T>
struct ImplicitGemm {
  std::int64_t samples;
  std::int64_t groups;
  std::int64_t channels;  ///< of a group
  std::int64_t rows;      ///< of a group
  WindowAxis y;
  WindowAxis x;
  const Wide<T>* weights;
  const T* from;
  T* to;

  std::int64_t taps() const { return y.taps * x.taps; }
  std::int64_t depth() const { return channels * taps(); }
  std::int64_t pixels() const { return y.pixels * x.pixels; }
  std::int64_t from_plane() const { return y.extent * x.extent; }
  std::int64_t to_plane() const { return y.to_extent * x.to_extent; }
};

}  // namespace zygos::ops
