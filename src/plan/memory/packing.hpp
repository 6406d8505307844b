// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/plan/memory_plan.hpp"
#include "zygos/schedule/happens_before.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::plan {

/// Up to the alignment that every tensor of an arena has.
constexpr std::size_t padded(std::size_t bytes) {
  constexpr std::size_t unit = memory::ArenaLayout::alignment;
  return (bytes + unit - 1) / unit * unit;
}

/// Memory that is live from one moment to another, both included. Moments are increasing integers.
struct LiveInterval {
  std::size_t bytes = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::size_t offset = 0;
};

/// Sets the offsets so that two share memory only if their intervals do not overlap, and returns
/// the total: first fit in the order of the first moment, the larger ones before.
std::size_t pack(std::vector<LiveInterval>& intervals);

/// Sets the offsets of buffers so that two share memory only if every use of one has ended before
/// the other is first written, and returns the total bytes. First fit, in the order of the first
/// use (optimal up to fragmentation for live intervals of one queue) or of size, whichever takes
/// less.
std::size_t pack(const std::vector<PlannedBuffer*>& buffers, const schedule::HappensBefore& before);

/// One after the other, nothing shared: for memory that another place may read at any time.
std::size_t pack_apart(const std::vector<PlannedBuffer*>& buffers);

}  // namespace zygos::plan
