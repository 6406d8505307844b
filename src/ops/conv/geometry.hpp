// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The geometry of a convolution: plain numbers, for files without Kokkos, too.
#pragma once

#include <compare>
#include <cstdint>

namespace zygos::ops {

struct ConvAxis {
  std::int64_t input;
  std::int64_t kernel;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;

  /// Input coordinates under a kernel.
  std::int64_t window() const { return (kernel - 1) * dilation + 1; }
  /// Zero or less if the kernel is larger than the padded input.
  std::int64_t output() const { return (input + 2 * padding - window() + stride) / stride; }

  friend auto operator<=>(const ConvAxis&, const ConvAxis&) = default;
};

struct Conv2d {
  std::int64_t samples;
  std::int64_t channels;
  std::int64_t filters;
  std::int64_t groups = 1;
  ConvAxis y;
  ConvAxis x;

  std::int64_t weights() const { return filters * (channels / groups) * y.kernel * x.kernel; }

  friend auto operator<=>(const Conv2d&, const Conv2d&) = default;
};

}  // namespace zygos::ops
