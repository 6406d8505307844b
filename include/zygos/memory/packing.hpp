// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Which memory two buffers can share: none while both are live.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::memory {

/// Up to the alignment that every tensor of an arena has. Throws MemoryError for what can't be
/// addressed.
std::size_t padded(std::size_t bytes);

/// Memory that is live from one moment to another, both included. Moments are increasing integers.
struct LiveInterval {
  std::size_t bytes = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::size_t offset = 0;
};

/// The first byte behind it. Throws MemoryError for what can't be addressed.
std::size_t end_of(const LiveInterval& interval);

/// Sets the offsets so that two share memory only if their intervals do not overlap, and returns
/// the total: first fit in the order of the first moment, the larger ones before.
std::size_t pack(std::vector<LiveInterval>& intervals);

}  // namespace zygos::memory
