// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/memory/packing.hpp"

#include "memory/first_gap.hpp"

#include "zygos/core/error.hpp"
#include "zygos/memory/arena.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

namespace zygos::memory {

std::size_t padded(std::size_t bytes) {
  constexpr std::size_t mask = ArenaLayout::alignment - 1;
  if (bytes > std::numeric_limits<std::size_t>::max() - mask) {
    throw MemoryError("a piece of " + std::to_string(bytes) + " bytes can't be addressed");
  }
  return (bytes + mask) & ~mask;
}

std::size_t end_of(const LiveInterval& interval) {
  if (interval.bytes > std::numeric_limits<std::size_t>::max() - interval.offset) {
    throw MemoryError("a piece of " + std::to_string(interval.bytes) + " bytes behind " +
                      std::to_string(interval.offset) + " others can't be addressed");
  }
  return interval.offset + interval.bytes;
}

std::size_t pack(std::vector<LiveInterval>& intervals) {
  std::vector<LiveInterval*> order;
  std::ranges::transform(intervals, std::back_inserter(order),
                         [](LiveInterval& interval) { return &interval; });
  std::ranges::stable_sort(order, [](const LiveInterval* one, const LiveInterval* other) {
    return std::pair(one->first, other->bytes) < std::pair(other->first, one->bytes);
  });
  std::size_t total = 0;
  std::vector<const LiveInterval*> taken;
  for (LiveInterval* interval : order) {
    std::erase_if(taken, [&](const LiveInterval* other) { return other->last < interval->first; });
    interval->offset = first_gap(taken, interval->bytes);
    total = std::max(total, end_of(*interval));
    taken.push_back(interval);
  }
  return total;
}

}  // namespace zygos::memory
