// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace zygos::testing {

/// Elements (samples, positions, ...) with the positions in the opposite order.
template <class T>
std::vector<T> turned(std::vector<T> all, std::size_t samples, std::size_t positions) {
  const std::size_t width = all.empty() ? 0 : all.size() / (samples * positions);
  const auto row = [&](std::size_t sample, std::size_t position) {
    return all.begin() + static_cast<std::ptrdiff_t>((sample * positions + position) * width);
  };
  for (std::size_t sample = 0; sample < samples; ++sample) {
    for (std::size_t position = 0; position < positions / 2; ++position) {
      const auto other = row(sample, positions - 1 - position);
      std::swap_ranges(row(sample, position), row(sample, position + 1), other);
    }
  }
  return all;
}

}  // namespace zygos::testing
