// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace zygos::memory {

/// Lowest offset at which `bytes` fit beside `taken`. One is anything with offset and bytes.
template <class One>
std::size_t first_gap(std::vector<const One*> taken, std::size_t bytes) {
  std::ranges::sort(taken, {}, [](const One* other) { return other->offset; });
  std::size_t offset = 0;
  for (const One* other : taken) {
    if (offset + bytes <= other->offset) {
      break;
    }
    offset = std::max(offset, other->offset + other->bytes);
  }
  return offset;
}

}  // namespace zygos::memory
