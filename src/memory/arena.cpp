// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/memory/arena.hpp"

#include "zygos/core/error.hpp"
#include "zygos/memory/bytes.hpp"
#include "zygos/memory/packing.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace zygos::memory {
namespace {

std::string table_row(const std::string& name, std::size_t bytes) {
  constexpr std::size_t width = 28;
  const std::string padding(name.size() < width ? width - name.size() : 1, ' ');
  return "\n  " + name + padding + text_of_bytes(bytes);
}

std::string category_table(const Usage& usage) {
  std::string out = "\nbytes per category:";
  for (const Category category : all_categories) {
    if (usage[category] > 0) {
      out += table_row(std::string(name_of(category)), usage[category]);
    }
  }
  return out;
}

std::string largest_pieces(const std::vector<Piece>& pieces) {
  constexpr std::size_t shown = 5;
  std::vector<const Piece*> order;
  for (const Piece& piece : pieces) {
    order.push_back(&piece);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Piece* a, const Piece* b) { return a->bytes > b->bytes; });
  order.resize(std::min(order.size(), shown));
  std::string out = "\nlargest pieces:";
  for (const Piece* piece : order) {
    out +=
        table_row(piece->name, piece->bytes) + " (" + std::string(name_of(piece->category)) + ")";
  }
  return out;
}

}  // namespace

std::size_t ArenaLayout::add(Category category, std::string name, std::size_t bytes) {
  const std::size_t size = padded(bytes);
  if (size > std::numeric_limits<std::size_t>::max() - total_) {
    throw MemoryError("'" + name + "' with " + std::to_string(bytes) +
                      " bytes makes the layout larger than memory can be addressed");
  }
  pieces_.push_back({category, std::move(name), bytes, total_});
  total_ += size;
  return pieces_.size() - 1;
}

Usage ArenaLayout::usage() const {
  Usage usage;
  for (const Piece& piece : pieces_) {
    usage[piece.category] += padded(piece.bytes);
  }
  return usage;
}

void ArenaLayout::require_within(std::size_t budget, const std::string& lane) const {
  if (budget == 0 || total_ <= budget) {
    return;
  }
  throw MemoryError("lane '" + lane + "' needs " + text_of_bytes(total_) + " (" +
                    std::to_string(total_) + " bytes), its budget is " + text_of_bytes(budget) +
                    " (" + std::to_string(budget) +
                    " bytes); use a smaller batch or more micro-batches (train.accumulate), give "
                    "the lane a smaller share, or raise the lane's 'memory'" +
                    category_table(usage()) + largest_pieces(pieces_));
}

Arena::Arena(ArenaLayout layout, const std::string& lane, std::size_t budget,
             const Allocator& allocate)
    : layout_(std::move(layout)) {
  layout_.require_within(budget, lane);
  if (layout_.total() > 0) {
    block_ = allocate(layout_.total(), "zygos::memory::arena(" + lane + ")");
  }
}

std::byte* Arena::at(std::size_t piece) const {
  ZYGOS_REQUIRE(piece < layout_.pieces().size(), "no such piece in this arena");
  return block_ == nullptr ? nullptr : block_.get() + layout_.pieces()[piece].offset;
}

}  // namespace zygos::memory
