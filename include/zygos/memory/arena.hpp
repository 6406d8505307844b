// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// All memory of a lane is one block, laid out before step 0. A layout is plain arithmetic (no
// device is touched), so the planner and the run share it: what is predicted is what is allocated.
#pragma once

#include "zygos/memory/category.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace zygos::memory {

/// One named piece of a layout. Offsets are multiples of ArenaLayout::alignment.
struct Piece {
  Category category = Category::workspace;
  std::string name;
  std::size_t bytes = 0;
  std::size_t offset = 0;
};

/// Grows by add(); knows its total and its bytes per category before anything is allocated.
class ArenaLayout {
 public:
  /// One cache line of an AVX-512 machine and the alignment cuBLAS wants for vector loads.
  static constexpr std::size_t alignment = 256;

  /// Appends a piece and returns its index. Zero bytes are allowed.
  std::size_t add(Category category, std::string name, std::size_t bytes);
  const std::vector<Piece>& pieces() const noexcept { return pieces_; }
  /// Bytes of the whole block, padding included.
  std::size_t total() const noexcept { return total_; }
  /// Bytes per category; a piece's padding is charged to the piece.
  Usage usage() const;
  /// Throws MemoryError with a table of categories and the largest pieces if total() exceeds
  /// `budget` (0 means no budget).
  void require_within(std::size_t budget, const std::string& lane) const;

 private:
  std::vector<Piece> pieces_;
  std::size_t total_ = 0;
};

/// Frees on destruction; what an allocator hands out.
using Block = std::shared_ptr<std::byte>;
/// Allocates `bytes` under `label`; throws MemoryError if it can't. A lane supplies one.
using Allocator = std::function<Block(std::size_t bytes, const std::string& label)>;

/// The allocated block of one lane with its layout.
class Arena {
 public:
  Arena() = default;
  /// Checks the budget, then allocates once under the label `zygos::memory::arena(<lane>)`.
  Arena(ArenaLayout layout, const std::string& lane, std::size_t budget, const Allocator& allocate);

  std::byte* at(std::size_t piece) const;
  /// First byte of the block; null if it has none.
  const std::byte* begin() const noexcept { return block_.get(); }
  const ArenaLayout& layout() const noexcept { return layout_; }

 private:
  ArenaLayout layout_;
  Block block_;
};

}  // namespace zygos::memory
