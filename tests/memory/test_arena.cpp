// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/memory/arena.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <limits>
#include <new>
#include <set>

namespace zygos::test_arena {
using Catch::Matchers::ContainsSubstring;
using namespace zygos::memory;

namespace {

/// Counts calls, so that a test can say how often an arena allocated.
struct CountingAllocator {
  int calls = 0;
  std::string label;

  Allocator allocator() {
    return [this](std::size_t bytes, const std::string& name) {
      ++calls;
      label = name;
      const auto free = [](std::byte* block) { ::operator delete (block, std::align_val_t{256}); };
      return Block(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{256})), free);
    };
  }
};

ArenaLayout small_layout() {
  ArenaLayout layout;
  layout.add(Category::weights, "fc1/kernel", 1000);
  layout.add(Category::activations, "fc1", 0);
  layout.add(Category::weights, "fc1/bias", 1);
  layout.add(Category::workspace, "columns", 512);
  return layout;
}

}  // namespace

TEST_CASE("pieces of a layout are aligned and do not overlap", "[memory]") {
  const ArenaLayout layout = small_layout();

  std::size_t end = 0;
  for (const Piece& piece : layout.pieces()) {
    CHECK(piece.offset % ArenaLayout::alignment == 0);
    CHECK(piece.offset >= end);
    end = piece.offset + piece.bytes;
  }
  CHECK(layout.total() >= end);
  CHECK(layout.total() == 1024 + 256 + 512);
}

TEST_CASE("every byte of a layout is charged to exactly one category", "[memory]") {
  const ArenaLayout layout = small_layout();

  const Usage usage = layout.usage();

  CHECK(usage[Category::weights] == 1024 + 256);
  CHECK(usage[Category::workspace] == 512);
  CHECK(usage[Category::activations] == 0);
  CHECK(usage.total() == layout.total());
}

TEST_CASE("every category has a name of its own", "[memory]") {
  std::set<std::string_view> names;
  for (const Category category : all_categories) {
    names.insert(name_of(category));
  }

  CHECK(names.size() == all_categories.size());
  CHECK(name_of(Category::optimizer_state) == "optimizer_state");
}

TEST_CASE("a layout fits a budget of exactly its size and no smaller one", "[memory]") {
  const ArenaLayout layout = small_layout();

  CHECK_NOTHROW(layout.require_within(0, "host"));
  CHECK_NOTHROW(layout.require_within(layout.total(), "host"));
  CHECK_THROWS_AS(layout.require_within(layout.total() - 1, "host"), zygos::MemoryError);
}

TEST_CASE("a broken budget is explained by need, limit, cure, categories and largest pieces",
          "[memory]") {
  CHECK_THROWS_WITH(small_layout().require_within(1024, "gpu"),
                    ContainsSubstring("lane 'gpu' needs 1.8 KiB (1792 bytes)") &&
                        ContainsSubstring("its budget is 1.0 KiB (1024 bytes)") &&
                        ContainsSubstring("smaller batch") && ContainsSubstring("'memory'") &&
                        ContainsSubstring("weights") && ContainsSubstring("1.2 KiB") &&
                        ContainsSubstring("fc1/kernel") && ContainsSubstring("1000 B (weights)"));
}

TEST_CASE("a layout larger than the address space is refused, not wrapped around", "[memory]") {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  ArenaLayout layout;
  layout.add(Category::weights, "half", most / 2);

  CHECK_THROWS_AS(layout.add(Category::weights, "all", most), zygos::MemoryError);
  CHECK_THROWS_AS(layout.add(Category::weights, "rest", most / 2 + 2), zygos::MemoryError);
  CHECK(layout.pieces().size() == 1);
}

TEST_CASE("an arena allocates once, under a label with its lane's name", "[memory]") {
  CountingAllocator counting;

  const Arena arena(small_layout(), "host", 0, counting.allocator());

  CHECK(counting.calls == 1);
  CHECK(counting.label == "zygos::memory::arena(host)");
  CHECK(arena.at(2) - arena.at(0) == 1024);
  CHECK(reinterpret_cast<std::uintptr_t>(arena.at(2)) % ArenaLayout::alignment == 0);
}

TEST_CASE("an arena over its budget allocates nothing", "[memory]") {
  CountingAllocator counting;

  CHECK_THROWS_AS(Arena(small_layout(), "host", 100, counting.allocator()), zygos::MemoryError);

  CHECK(counting.calls == 0);
}

TEST_CASE("an arena of no bytes needs no memory and a wrong piece is refused", "[memory]") {
  CountingAllocator counting;
  ArenaLayout layout;
  layout.add(Category::inputs, "none", 0);

  const Arena arena(layout, "host", 0, counting.allocator());

  CHECK(counting.calls == 0);
  CHECK(arena.at(0) == nullptr);
  CHECK_THROWS_AS(arena.at(1), zygos::InternalError);
}

}  // namespace zygos::test_arena
