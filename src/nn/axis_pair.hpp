// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What layers over images have in common: options with a value per axis, and their checks.
#pragma once

#include "zygos/core/error.hpp"
#include "zygos/core/shape.hpp"
#include "zygos/deck/schema.hpp"
#include "zygos/deck/value.hpp"
#include "zygos/nn/layers.hpp"

#include <span>
#include <string>
#include <string_view>

namespace zygos::nn {

/// Channels, height and width; (H, W) is an image of one channel. Throws UsageError for another
/// rank.
struct ImageExtents {
  std::int64_t channels;
  std::int64_t height;
  std::int64_t width;
};
inline ImageExtents image_extents(std::string_view layer, const Shape& shape) {
  if (shape.rank() == 2) {
    return {1, shape[0], shape[1]};
  }
  if (shape.rank() != 3) {
    throw UsageError(std::string(layer) + ": the input has the shape " + shape.text() +
                     "; it must be an image (channels, height, width) or (height, width)");
  }
  return {shape[0], shape[1], shape[2]};
}

/// Largest kernel, stride, padding, dilation or factor: what is computed of several of them stays
/// far below what 64 bits hold.
inline constexpr std::int64_t max_axis_option = std::int64_t{1} << 20;

inline void require_pair(std::string_view layer, std::string_view option, const AxisPair& pair,
                         std::int64_t least) {
  for (const std::int64_t value : {pair.y, pair.x}) {
    if (value < least || value > max_axis_option) {
      throw UsageError(std::string(layer) + ": " + std::string(option) + " is " +
                       std::to_string(value) + "; it must be at " +
                       (value < least ? "least " + std::to_string(least)
                                      : "most " + std::to_string(max_axis_option)));
    }
  }
}

/// A key with one number for both axes or a list of two, [vertical, horizontal].
inline deck::Key& pair_key(deck::Schema& schema, std::string name, const std::string& doc,
                           int least) {
  return schema.integers(std::move(name), doc + " One number, or [vertical, horizontal].")
      .at_least(least)
      .at_most(static_cast<double>(max_axis_option))
      .length(1, 2)
      .or_single();
}

inline AxisPair pair_of(const deck::Section& options, std::string_view key) {
  const auto values = options.integers(key);
  return {values.front(), values.back()};
}

}  // namespace zygos::nn
