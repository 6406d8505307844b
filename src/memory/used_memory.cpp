// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/memory/used_memory.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <tuple>

namespace zygos::memory {

void UsedMemory::note(const void* begin, std::size_t bytes) {
  const std::byte* const block = arena_->begin();
  const std::less<const void*> before;
  if (bytes == 0 || block == nullptr || before(begin, block) ||
      !before(begin, block + arena_->layout().total())) {
    return;
  }
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(begin) - block);
  const auto& pieces = arena_->layout().pieces();
  // Pieces without bytes have the offset of the next one, so the last that fits is the right one.
  const auto next = std::ranges::upper_bound(pieces, offset, {}, &Piece::offset);
  constexpr std::size_t unit = ArenaLayout::alignment;
  ranges_.push_back(
      {std::prev(next)->category, offset / unit * unit, (offset + bytes + unit - 1) / unit * unit});
}

void UsedMemory::take(UsedMemory& other) {
  ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
  other.ranges_.clear();
}

void UsedMemory::merge() {
  std::ranges::sort(ranges_, {}, [](const Range& range) {
    return std::tuple(range.category, range.begin, range.end);
  });
  std::vector<Range> merged;
  for (const Range& range : ranges_) {
    if (!merged.empty() && merged.back().category == range.category &&
        range.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, range.end);
    } else {
      merged.push_back(range);
    }
  }
  ranges_ = std::move(merged);
}

Usage UsedMemory::usage() {
  merge();
  Usage usage;
  for (const Range& range : ranges_) {
    usage[range.category] += range.end - range.begin;
  }
  return usage;
}

}  // namespace zygos::memory
