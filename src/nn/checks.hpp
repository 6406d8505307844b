// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/error.hpp"
#include "zygos/core/shape.hpp"

#include <cmath>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

namespace zygos::nn {

/// The only input of a layer that takes one; throws UsageError for another number.
inline const Shape& only_input(std::string_view layer, std::span<const Shape> inputs) {
  if (inputs.size() != 1) {
    throw UsageError("layer '" + std::string(layer) + "' takes one input, got " +
                     std::to_string(inputs.size()) + "; name one layer in its 'inputs'");
  }
  return inputs.front();
}

/// For layers that join others; throws UsageError for less than two.
inline void require_several(std::string_view layer, std::span<const Shape> inputs) {
  if (inputs.size() < 2) {
    throw UsageError("layer '" + std::string(layer) + "' joins two or more inputs, got " +
                     std::to_string(inputs.size()) + "; name them in its 'inputs'");
  }
}

/// For layers that work on channels, the first extent; throws UsageError if there is none.
inline const Shape& with_channels(std::string_view layer, const Shape& shape) {
  if (shape.size() < 1 || shape.rank() == 0) {
    throw UsageError(std::string(layer) + ": the input of shape " + shape.text() +
                     " has no channels; it must be (channels) or (channels, ...)");
  }
  return shape;
}

/// "0.3" and not "0.300000", for messages.
inline std::string text_of(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

inline void require_option(bool holds, std::string_view owner, std::string_view option,
                           double value, std::string_view allowed) {
  if (!holds) {
    throw UsageError(std::string(owner) + ": " + std::string(option) + " is " + text_of(value) +
                     "; it must be " + std::string(allowed));
  }
}

// Written so that NaN is refused.
inline void require_positive(std::string_view owner, std::string_view option, double value) {
  require_option(value > 0.0 && std::isfinite(value), owner, option, value,
                 "a positive finite number");
}

inline void require_not_negative(std::string_view owner, std::string_view option, double value) {
  require_option(value >= 0.0 && std::isfinite(value), owner, option, value,
                 "zero or a positive finite number");
}

inline void require_fraction(std::string_view owner, std::string_view option, double value) {
  require_option(value >= 0.0 && value < 1.0, owner, option, value, "in [0, 1)");
}

}  // namespace zygos::nn
