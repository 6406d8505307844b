// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/dataset.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace zygos::io {

/// Sequences whose labels are the next tokens. `draw(sample, tokens)` fills a sequence's tokens and
/// the one behind them.
template <class Draw>
Dataset next_token_dataset(std::string name, std::int64_t samples, std::int64_t sequence,
                           std::int64_t classes, const Draw& draw) {
  const Shape shape{samples, sequence};
  const std::size_t bytes = static_cast<std::size_t>(shape.size()) * sizeof(std::int32_t);
  auto inputs = allocate_bytes(bytes, name);
  auto labels = allocate_bytes(bytes, name);
  auto* input = reinterpret_cast<std::int32_t*>(inputs.get());
  auto* label = reinterpret_cast<std::int32_t*>(labels.get());
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(sequence) + 1);
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    draw(sample, std::span<std::int32_t>(tokens));
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      *input++ = tokens[i];
      *label++ = tokens[i + 1];
    }
  }
  Dataset data;
  data.name = std::move(name);
  data.inputs = {DType::i32, shape, std::move(inputs)};
  data.targets = {DType::i32, shape, std::move(labels)};
  data.classes = classes;
  return data;
}

}  // namespace zygos::io
