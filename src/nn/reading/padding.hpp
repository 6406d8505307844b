// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/nn/onnx_reading.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zygos::nn {

/// What a layer's windows may reach beyond its input.
enum class PaddedWith { zeros, lowest };

/// A tensor, and what a Pad behind it adds on both sides of each axis: none without a Pad.
struct PaddedInput {
  std::string tensor;
  std::vector<std::int64_t> padding;

  bool is_padded() const;
};

/// The first input of an operator over images or lines of so many axes behind batch and channels.
/// `lowest`: numbers that are never the largest. Throws UsageError for a Pad with something else,
/// or that is not the same on both sides.
PaddedInput padded_input(OnnxSource& source, const OnnxOperator& op, std::size_t axes,
                         PaddedWith with);

}  // namespace zygos::nn
