// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/tensor/views.hpp"

#include <cstdint>

namespace zygos::ops {

/// Planes of height x width become planes of height * factor_y x width * factor_x.
struct Upsampling {
  std::int64_t planes;  ///< samples * channels
  std::int64_t height;
  std::int64_t width;
  std::int64_t factor_y;
  std::int64_t factor_x;
};

/// Where a larger plane's values come from.
enum class Between {
  nearest,   ///< the pixel they lie in
  bilinear,  ///< the four pixels whose centres are around theirs; beyond the border it is repeated
};

template <class Exec, class T>
void upsample(const Exec& exec, const Upsampling& shape, Between between,
              VectorView<Exec, const T> x, VectorView<Exec, T> y);
/// d_x: every input collects from the outputs that read it, in a fixed order.
template <class Exec, class T>
void upsample_backward(const Exec& exec, const Upsampling& shape, Between between,
                       VectorView<Exec, const T> d_y, VectorView<Exec, T> d_x);

}  // namespace zygos::ops
