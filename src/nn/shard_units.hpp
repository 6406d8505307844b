// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/shape.hpp"
#include "zygos/core/slice.hpp"

#include <cstdint>

namespace zygos::nn {

/// Layer::shard_units() of an element-wise layer: the last extent, which dense layers cut, too.
inline std::int64_t elementwise_units(SliceKind kind, const Shape& shape) {
  return kind == SliceKind::elements && shape.rank() > 0 ? shape[shape.rank() - 1] : 0;
}

}  // namespace zygos::nn
