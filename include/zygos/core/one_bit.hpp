// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages of one bit an element, a magnitude for every block of elements and then a sign for each,
// and the steps that have them.
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

/// Which steps, counted from 1, are compressed: those after the first `after`, but for refreshes.
/// Refreshes have a distance of 1 step, after `refresh` of them of 2, then of 4, and so on (Lu et
/// al., "Maximizing Communication Efficiency for Large-scale Training via 0/1 Adam", ICLR 2023,
/// section 4): of n steps about `refresh` log2(n / refresh).
struct OneBitSteps {
  std::int64_t after = 0;    ///< 0: no step is compressed
  std::int64_t refresh = 0;  ///< of each distance; 0: there are no refreshes

  bool compresses(std::int64_t step) const;
  /// The last one up to `step` that is not compressed.
  std::int64_t last_exact(std::int64_t step) const;
  /// How many of the first `steps` are not compressed.
  std::int64_t exact_among(std::int64_t steps) const;
};

}  // namespace zygos
