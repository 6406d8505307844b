// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/philox.hpp"
#include "zygos/memory/packing.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

namespace zygos::memory::test_packing {
namespace {

bool overlap_in_time(const LiveInterval& one, const LiveInterval& other) {
  return one.first <= other.last && other.first <= one.last;
}

bool share_memory(const LiveInterval& one, const LiveInterval& other) {
  return one.offset < other.offset + other.bytes && other.offset < one.offset + one.bytes;
}

/// The most bytes that any moment needs: no packing can do with less.
std::size_t min_bytes(const std::vector<LiveInterval>& intervals) {
  std::size_t most = 0;
  for (const LiveInterval& now : intervals) {
    std::size_t bytes = 0;
    for (const LiveInterval& interval : intervals) {
      bytes += interval.first <= now.first && now.first <= interval.last ? interval.bytes : 0;
    }
    most = std::max(most, bytes);
  }
  return most;
}

}  // namespace

TEST_CASE("Live intervals one after the other share memory, and neighbours do not") {
  std::vector<LiveInterval> chain{{256, 0, 1, 0}, {256, 1, 2, 0}, {256, 2, 3, 0}, {256, 3, 4, 0}};

  CHECK(pack(chain) == 512);
  CHECK(chain[0].offset == 0);
  CHECK(chain[1].offset == 256);
  CHECK(chain[2].offset == 0);
  CHECK(chain[3].offset == 256);
}

TEST_CASE("No live intervals take no memory, and all at once lie one behind the other") {
  std::vector<LiveInterval> none;
  std::vector<LiveInterval> together{{256, 5, 9, 0}, {512, 5, 5, 0}, {1024, 3, 7, 0}};

  CHECK(pack(none) == 0);
  CHECK(pack(together) == 1792);
}

TEST_CASE("No two live intervals of one moment overlap in memory") {
  for (std::uint32_t round = 0; round < 50; ++round) {
    std::vector<LiveInterval> intervals;
    for (std::uint32_t i = 0; i < 1 + round; ++i) {
      const PhiloxBlock random = philox4x32(PhiloxBlock{{round, i, 0, 0}}, 7, 7);
      const std::int64_t first = random.v[0] % 20;
      intervals.push_back({.bytes = 256 * (1 + std::size_t{random.v[1]} % 9),
                           .first = first,
                           .last = first + random.v[2] % 6});
    }
    const std::size_t total = pack(intervals);

    CAPTURE(round);
    CHECK(total >= min_bytes(intervals));
    std::size_t end = 0;
    for (std::size_t i = 0; i < intervals.size(); ++i) {
      end = std::max(end, intervals[i].offset + intervals[i].bytes);
      for (std::size_t j = 0; j < i; ++j) {
        const bool clash =
            overlap_in_time(intervals[i], intervals[j]) && share_memory(intervals[i], intervals[j]);
        CHECK_FALSE(clash);
      }
    }
    CHECK(total == end);
  }
}

}  // namespace zygos::memory::test_packing
