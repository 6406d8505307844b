// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Which bytes of an arena have been used, from the addresses that were read and written. It knows
// nothing of who planned them: a buffer that nobody uses is not counted, and one that is used
// beyond its end is counted as far as it was used.
#pragma once

#include "zygos/memory/arena.hpp"

#include <cstddef>
#include <vector>

namespace zygos::memory {

class UsedMemory {
 public:
  /// The arena must outlive this.
  explicit UsedMemory(const Arena& arena) : arena_(&arena) {}

  /// Addresses outside of the arena's block are ignored, so are null and no bytes.
  void note(const void* begin, std::size_t bytes);
  /// Adds what another one has noted of the same arena, and empties that.
  void take(UsedMemory& other);
  /// Bytes used at least once, in units of ArenaLayout::alignment: the high-water mark of each
  /// category. What was noted twice counts once; a byte belongs to the piece where its use begins.
  Usage usage();

 private:
  struct Range {
    Category category = Category::workspace;
    std::size_t begin = 0;  ///< offset in the block
    std::size_t end = 0;
  };
  void merge();

  const Arena* arena_;
  std::vector<Range> ranges_;
};

}  // namespace zygos::memory
