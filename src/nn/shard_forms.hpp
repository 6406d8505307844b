// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Forms of layers whose slices are alike but for their shapes.
#pragma once

#include "zygos/core/shape.hpp"
#include "zygos/core/slice.hpp"

#include <cstdint>

namespace zygos::nn {

/// Of a layer that computes every element by itself, in whatever order samples are cut.
inline ShardForm elementwise_form(SliceKind kind, const Shape& shape) {
  const CutAxis all{1, shape.size(), 1};
  return kind == SliceKind::elements ? ShardForm{all, all} : ShardForm{};
}

/// Channels, a sample's first extent.
inline CutAxis channels_of(const Shape& shape) {
  return {1, shape[0], shape[0] == 0 ? 1 : shape.size() / shape[0]};
}

/// Of a layer that computes every channel by itself.
inline ShardForm channelwise_form(SliceKind kind, const Shape& input, const Shape& output) {
  return kind == SliceKind::elements ? ShardForm{channels_of(input), channels_of(output)}
                                     : ShardForm{};
}

}  // namespace zygos::nn
