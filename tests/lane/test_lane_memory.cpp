// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/lane/lane.hpp"
#include "zygos/memory/arena.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstring>
#include <optional>

namespace zygos::test_lane_memory {
using Catch::Matchers::ContainsSubstring;
using namespace zygos::lane;
using zygos::memory::Block;
using zygos::memory::Category;

// Without this the address sanitizer ends the program where an allocation would report failure.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

TEST_CASE("a lane counts the bytes of its living blocks", "[lane]") {
  const Kind kind = GENERATE(Kind::host, Kind::emulated);
  Lane lane({.name = "a", .kind = kind});
  const auto allocate = lane.allocator();

  Block first = allocate(1000, "zygos::test::first");
  const Block second = allocate(std::size_t{5} << 20, "zygos::test::second");

  CHECK(lane.bytes_allocated() == 1000 + (std::size_t{5} << 20));
  first.reset();
  CHECK(lane.bytes_allocated() == std::size_t{5} << 20);
}

TEST_CASE("memory of a lane can be written from end to end and is aligned for an arena", "[lane]") {
  const auto bytes = GENERATE(std::size_t{1}, std::size_t{4096}, std::size_t{5} << 20);
  Lane lane({.name = "a", .kind = Kind::emulated});

  const Block block = lane.allocator()(bytes, "zygos::test::block");
  std::memset(block.get(), 0x5a, bytes);

  CHECK(reinterpret_cast<std::uintptr_t>(block.get()) % zygos::memory::ArenaLayout::alignment == 0);
  CHECK(std::to_integer<int>(block.get()[bytes - 1]) == 0x5a);
}

TEST_CASE("the budget of a lane is hard over all of its blocks", "[lane]") {
  Lane lane({.name = "gpu", .kind = Kind::emulated, .budget_bytes = 1000});
  const auto allocate = lane.allocator();

  Block first = allocate(600, "zygos::test::first");
  CHECK_THROWS_WITH(allocate(401, "zygos::test::second"),
                    ContainsSubstring("lane 'gpu'") && ContainsSubstring("401 B") &&
                        ContainsSubstring("'zygos::test::second'") &&
                        ContainsSubstring("600 B of its budget of 1000 B"));

  CHECK(lane.bytes_allocated() == 600);
  CHECK_NOTHROW(allocate(400, "zygos::test::third"));
  first.reset();
  CHECK_NOTHROW(allocate(1000, "zygos::test::fourth"));
}

TEST_CASE("an arena over the budget of its lane is refused before anything is allocated",
          "[lane]") {
  Lane lane({.name = "gpu", .kind = Kind::emulated, .budget_bytes = 1024});
  zygos::memory::ArenaLayout layout;
  layout.add(Category::weights, "fc1/kernel", 2000);

  CHECK_THROWS_WITH(
      zygos::memory::Arena(layout, lane.name(), lane.spec().budget_bytes, lane.allocator()),
      ContainsSubstring("fc1/kernel") && ContainsSubstring("lane 'gpu'"));
  CHECK(lane.bytes_allocated() == 0);
}

TEST_CASE("memory the machine does not have is a memory error and charges nothing", "[lane]") {
  Lane lane({.name = "a"});

  CHECK_THROWS_AS(lane.allocator()(std::size_t{1} << 60, "zygos::test::huge"), zygos::MemoryError);
  CHECK_THROWS_WITH(lane.allocator()(std::size_t{1} << 60, "zygos::test::huge"),
                    ContainsSubstring("'zygos::test::huge'") && ContainsSubstring("1024.00 PiB"));
  CHECK(lane.bytes_allocated() == 0);
}

TEST_CASE("staging is host memory and not charged to the lane", "[lane]") {
  Lane lane({.name = "gpu", .kind = Kind::emulated, .budget_bytes = 16});

  const Block staging = lane.staging_allocator()(4096, "zygos::test::staging");
  std::memset(staging.get(), 1, 4096);

  CHECK(lane.bytes_allocated() == 0);
}

TEST_CASE("a block and an allocator may outlive their lane", "[lane]") {
  std::optional<Lane> lane;
  lane.emplace(LaneSpec{.name = "a", .budget_bytes = 100});
  const auto allocate = lane->allocator();
  const Block block = allocate(60, "zygos::test::block");

  lane.reset();

  CHECK_NOTHROW(allocate(40, "zygos::test::late"));
  CHECK_THROWS_AS(allocate(41, "zygos::test::late"), zygos::MemoryError);
}

}  // namespace zygos::test_lane_memory
