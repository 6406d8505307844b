// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/memory/used_memory.hpp"

#include <catch2/catch_test_macros.hpp>

#include <new>
#include <string>

namespace zygos::test_used_memory {
using namespace zygos::memory;

namespace {

Block allocate(std::size_t bytes, const std::string&) {
  constexpr std::align_val_t alignment{256};
  const auto free = [](std::byte* block) { ::operator delete(block, alignment); };
  return {static_cast<std::byte*>(::operator new(bytes, alignment)), free};
}

/// 1024 bytes of weights, none of a stash, 256 of gradients, 768 of workspace.
Arena small_arena() {
  ArenaLayout layout;
  layout.add(Category::weights, "weights", 1000);
  layout.add(Category::stash, "stash", 0);
  layout.add(Category::gradients, "gradients", 1);
  layout.add(Category::workspace, "workspace", 700);
  return {layout, "lane", 0, allocate};
}

}  // namespace

TEST_CASE("Memory is used where it was touched, however often", "[memory]") {
  const Arena arena = small_arena();
  UsedMemory used(arena);
  CHECK(used.usage().total() == 0);

  used.note(arena.at(0), 1000);
  used.note(arena.at(0) + 300, 10);
  used.note(arena.at(2), 1);
  used.note(arena.at(3) + 512, 4);
  used.note(arena.at(3), 4);
  used.note(arena.at(3), 4);

  const Usage usage = used.usage();
  CHECK(usage[Category::weights] == 1024);
  CHECK(usage[Category::stash] == 0);
  CHECK(usage[Category::gradients] == 256);
  CHECK(usage[Category::workspace] == 512);
  CHECK(used.usage().total() == usage.total());
}

TEST_CASE("All of an arena touched is all of its layout", "[memory]") {
  const Arena arena = small_arena();
  UsedMemory used(arena);
  for (std::size_t piece = 0; piece < arena.layout().pieces().size(); ++piece) {
    used.note(arena.at(piece), arena.layout().pieces()[piece].bytes);
  }

  const Usage usage = used.usage();
  for (const Category category : all_categories) {
    CHECK(usage[category] == arena.layout().usage()[category]);
  }
  CHECK(usage.total() == arena.layout().total());
}

TEST_CASE("A use beyond the end of a piece is counted as far as it went", "[memory]") {
  const Arena arena = small_arena();
  UsedMemory used(arena);

  used.note(arena.at(2), 257);

  CHECK(used.usage()[Category::gradients] == 512);
}

TEST_CASE("Addresses outside of an arena are not counted", "[memory]") {
  const Arena arena = small_arena();
  const Arena other = small_arena();
  UsedMemory used(arena);

  used.note(other.at(0), 256);
  used.note(nullptr, 256);
  used.note(arena.at(0), 0);

  CHECK(used.usage().total() == 0);
}

}  // namespace zygos::test_used_memory
