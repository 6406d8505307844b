// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/random_words.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <vector>

namespace zygos::ops::test_random_words {
namespace {

constexpr std::size_t count = 4 * blocks_together;
constexpr std::uint32_t guard = 0xA5A5A5A5U;

std::vector<std::uint32_t> drawn_together(const RngKey& key, std::uint64_t major,
                                          std::uint32_t first) {
  std::array<std::uint32_t, count + 16> words{};
  words.fill(guard);
  random_words(key, major, first, words.data() + 8);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(words[i] == guard);
    CHECK(words[8 + count + i] == guard);
  }
  return {words.begin() + 8, words.end() - 8};
}

std::vector<std::uint32_t> drawn_one_by_one(const RngKey& key, std::uint64_t major,
                                            std::uint32_t first) {
  std::vector<std::uint32_t> words;
  for (std::uint32_t b = 0; b < blocks_together; ++b) {
    const PhiloxBlock block = random_block(key, major, first + b);
    words.insert(words.end(), block.v, block.v + 4);
  }
  return words;
}

}  // namespace

TEST_CASE("Blocks drawn side by side are those drawn one by one") {
  const std::vector<RngKey> keys{{0, RngPurpose::dropout, 0},
                                 {0xFEDCBA9876543210U, RngPurpose::noise, 0xFFFFFFFFU},
                                 {17, RngPurpose::weights, 3}};
  for (const RngKey& key : keys) {
    for (const std::uint64_t major : {0ULL, 1ULL, 0xFFFFFFFFULL, 0x123456789ABCDEF0ULL}) {
      // The last of them wraps around within the blocks.
      for (const std::uint32_t first : {0U, 1U, 4096U, 0x7FFFFFF9U, 0xFFFFFFFBU}) {
        CAPTURE(key.seed, major, first);
        CHECK(drawn_together(key, major, first) == drawn_one_by_one(key, major, first));
      }
    }
  }
}

TEST_CASE("Blocks drawn side by side have the published words") {
  // Salmon et al.'s known answer of ten rounds, counter and key 0: purpose and stream cancel here.
  const auto words = drawn_together({0, RngPurpose::weights, 1U << 28}, 0, 0);
  CHECK(words[0] == 0x6627E8D5U);
  CHECK(words[1] == 0xE169C58DU);
  CHECK(words[2] == 0xBC57AC4CU);
  CHECK(words[3] == 0x9B00DBD8U);
}

}  // namespace zygos::ops::test_random_words
