// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions that tests go through.
#pragma once

#include "ops/conv/conv2d.hpp"
#include "support/random_values.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::testing {

inline std::size_t inputs(const ops::Conv2d& c) {
  return static_cast<std::size_t>(c.samples * c.channels * c.y.input * c.x.input);
}
inline std::size_t outputs(const ops::Conv2d& c) {
  return static_cast<std::size_t>(c.samples * c.filters * c.y.output() * c.x.output());
}
inline std::size_t weights(const ops::Conv2d& c) { return static_cast<std::size_t>(c.weights()); }

/// Corners: nothing, one number, more rows than a piece, more taps than are packed at a time, rows
/// longer than a panel, short ones that share a panel with other samples, enough samples to share
/// vectors, with some left, every stride, padding and dilation, groups.
inline std::vector<ops::Conv2d> conv_shapes() {
  std::vector<ops::Conv2d> all{
      {0, 2, 3, 1, {5, 3}, {5, 3}},
      {2, 1, 1, 1, {1, 1}, {1, 1}},
      {3, 1, 6, 1, {28, 5, 1, 2}, {28, 5, 1, 2}},
      {5, 6, 16, 1, {14, 5}, {14, 5}},
      {2, 3, 130, 1, {9, 3, 1, 1}, {7, 3, 1, 1}},
      {2, 40, 7, 1, {8, 5, 1, 2}, {8, 5, 1, 2}},
      {1, 2, 5, 1, {20, 17, 1, 8}, {19, 18, 1, 8}},
      {1, 3, 8, 1, {31, 11, 4, 0}, {230, 11, 2, 5}},
      {2, 2, 3, 1, {5, 3, 1, 1}, {65, 3, 1, 1}},
      {70, 4, 4, 1, {1, 1}, {1, 1}},
      {9, 4, 5, 1, {3, 2, 2}, {3, 2, 2}},
      {2, 6, 4, 2, {9, 3, 2, 1, 2}, {11, 2, 3, 2, 3}},
      {2, 6, 6, 6, {7, 3, 1, 1}, {6, 3, 1, 1}},
      {2, 2, 3, 1, {12, 2, 4, 1, 2}, {13, 3, 3, 4, 3}},
      {37, 6, 16, 1, {14, 5}, {14, 5}},
      {32, 1, 6, 1, {28, 5, 1, 2}, {28, 5, 1, 2}},
      {33, 4, 6, 2, {9, 3, 1, 1}, {7, 3, 2, 1, 2}},
      {16, 33, 13, 1, {9, 3, 1, 1}, {5, 3, 1, 1}},
  };
  for (std::uint64_t round = 0; round < 40; ++round) {
    const auto axis = [&](std::uint32_t at) {
      ops::ConvAxis one{random_integer(1, 20, round, at), random_integer(1, 5, round, at + 1),
                        random_integer(1, 4, round, at + 2), random_integer(0, 3, round, at + 3),
                        random_integer(1, 3, round, at + 4)};
      if (one.output() < 1) {
        one.padding = one.window();
      }
      return one;
    };
    const std::int64_t groups = random_integer(1, 3, round, 20);
    all.push_back({random_integer(1, 6, round, 21), groups * random_integer(1, 9, round, 22),
                   groups * random_integer(1, 20, round, 23), groups, axis(0), axis(10)});
  }
  return all;
}

#define CAPTURE_CONV(c)                                                                  \
  CAPTURE(c.samples, c.channels, c.filters, c.groups, c.y.input, c.y.kernel, c.y.stride, \
          c.y.padding, c.y.dilation, c.x.input, c.x.kernel, c.x.stride, c.x.padding, c.x.dilation)

}  // namespace zygos::testing
