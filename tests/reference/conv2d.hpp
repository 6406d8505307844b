// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/conv/geometry.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::reference {

/// f(x index, w index, y index) for every product of a convolution.
template <class F>
void for_each_convolution_product(const ops::Conv2d& c, const F& f) {
  const std::int64_t in_group = c.channels / c.groups;
  const std::int64_t out_group = c.filters / c.groups;
  const std::int64_t height = c.y.output();
  const std::int64_t width = c.x.output();
  for (std::int64_t n = 0; n < c.samples; ++n) {
    for (std::int64_t o = 0; o < c.filters; ++o) {
      for (std::int64_t p = 0; p < height * width; ++p) {
        for (std::int64_t k = 0; k < in_group * c.y.kernel * c.x.kernel; ++k) {
          const std::int64_t channel = k / (c.y.kernel * c.x.kernel);
          const std::int64_t row =
              p / width * c.y.stride - c.y.padding + k / c.x.kernel % c.y.kernel * c.y.dilation;
          const std::int64_t column =
              p % width * c.x.stride - c.x.padding + k % c.x.kernel * c.x.dilation;
          if (row < 0 || row >= c.y.input || column < 0 || column >= c.x.input) {
            continue;
          }
          const std::int64_t of_all = o / out_group * in_group + channel;
          f(static_cast<std::size_t>(((n * c.channels + of_all) * c.y.input + row) * c.x.input +
                                     column),
            static_cast<std::size_t>(o * in_group * c.y.kernel * c.x.kernel + k),
            static_cast<std::size_t>((n * c.filters + o) * height * width + p));
        }
      }
    }
  }
}

}  // namespace zygos::reference
