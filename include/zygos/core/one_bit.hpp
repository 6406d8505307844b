// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages of one bit an element: a magnitude for every block of elements, then a sign for each.
#pragma once

#include <cstdint>

namespace zygos {

/// Elements that share a magnitude.
inline constexpr std::int64_t one_bit_block = 1024;

constexpr std::int64_t one_bit_blocks(std::int64_t elements) {
  return (elements + one_bit_block - 1) / one_bit_block;
}

/// Bytes of a message: ceil(n / 1024) magnitudes of `element_bytes` each and ceil(n / 8) of signs.
constexpr std::int64_t one_bit_bytes(std::int64_t elements, std::int64_t element_bytes) {
  return one_bit_blocks(elements) * element_bytes + (elements + 7) / 8;
}

}  // namespace zygos
