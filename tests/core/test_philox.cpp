// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/philox.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

namespace zygos::test_philox {
using zygos::philox4x32;
using zygos::PhiloxBlock;
using zygos::random_block;
using zygos::RngKey;
using zygos::RngPurpose;

namespace {

std::vector<std::uint32_t> words(const PhiloxBlock& block) {
  return {block.v[0], block.v[1], block.v[2], block.v[3]};
}

using Words = std::vector<std::uint32_t>;

}  // namespace

// The vectors are the file kat_vectors of the authors' library Random123.
TEST_CASE("philox gives the published answers for known counters and keys", "[core]") {
  constexpr std::uint32_t ones = 0xffffffffu;

  const PhiloxBlock zero = philox4x32({{0, 0, 0, 0}}, 0, 0);
  const PhiloxBlock one = philox4x32({{ones, ones, ones, ones}}, ones, ones);
  const PhiloxBlock pi =
      philox4x32({{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}}, 0xa4093822u, 0x299f31d0u);

  CHECK(words(zero) == Words{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u});
  CHECK(words(one) == Words{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu});
  CHECK(words(pi) == Words{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u});
}

TEST_CASE("philox runs at compile time, as kernels of a device need it to", "[core]") {
  static_assert(philox4x32({{0, 0, 0, 0}}, 0, 0).v[0] == 0x6627e8d5u);
  SUCCEED();
}

TEST_CASE("streams of different seed, purpose, number or position never share a block", "[core]") {
  std::set<Words> seen;
  std::size_t drawn = 0;

  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32}) {
    for (const RngPurpose purpose :
         {RngPurpose::weights, RngPurpose::shuffle, RngPurpose::dropout, RngPurpose::data,
          RngPurpose::noise, RngPurpose::augmentation}) {
      for (const std::uint32_t stream : {0u, 1u, 77u}) {
        for (const std::uint64_t major :
             {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{1} << 40}) {
          for (const std::uint32_t minor : {0u, 1u}) {
            seen.insert(words(random_block({seed, purpose, stream}, major, minor)));
            ++drawn;
          }
        }
      }
    }
  }

  CHECK(seen.size() == drawn);
}

TEST_CASE("uniform numbers lie in [0, 1) at both ends of their words", "[core]") {
  constexpr std::uint32_t ones = 0xffffffffu;

  CHECK(zygos::uniform_float(0) == 0.0F);
  CHECK(zygos::uniform_float(ones) < 1.0F);
  CHECK(zygos::uniform_float(ones) > 0.99999F);
  CHECK(zygos::uniform_double(0, 0) == 0.0);
  CHECK(zygos::uniform_double(ones, ones) < 1.0);
  CHECK(zygos::uniform_double(ones, ones) > 0.9999999999);
  CHECK(zygos::uniform_double(0x80000000u, 0) == 0.5);
}

TEST_CASE("uniform numbers have the mean and variance of a uniform distribution", "[core]") {
  constexpr int count = 100000;
  double sum = 0.0;
  double squares = 0.0;

  for (int i = 0; i < count; ++i) {
    const PhiloxBlock block = random_block({42, RngPurpose::data, 0}, std::uint64_t(i), 0);
    const double value = zygos::uniform_double(block.v[0], block.v[1]);
    sum += value;
    squares += value * value;
  }

  const double mean = sum / count;
  CHECK(std::abs(mean - 0.5) < 0.005);
  CHECK(std::abs(squares / count - mean * mean - 1.0 / 12.0) < 0.002);
}

}  // namespace zygos::test_philox
