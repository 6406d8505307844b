// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/permutation.hpp"

#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

namespace zygos::io {
namespace {

/// Uniform in [0, bound) from 64 random bits: the high word of a 64 x 64 bit product (Lemire 2019,
/// without rejection: the bias is below 2^-32 for every bound a 32-bit id allows).
std::uint32_t below(std::uint32_t bound, std::uint32_t high, std::uint32_t low) {
  const std::uint64_t upper = std::uint64_t{high} * bound;
  const std::uint64_t carry = (std::uint64_t{low} * bound) >> 32;
  return static_cast<std::uint32_t>((upper + carry) >> 32);
}

}  // namespace

void permute(const RngKey& key, std::uint64_t number, std::span<std::uint32_t> order) {
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  // Fisher-Yates (Durstenfeld 1964); the swap at position i uses words of block i / 2 only.
  PhiloxBlock block{};
  std::size_t block_of = std::numeric_limits<std::size_t>::max();
  for (std::size_t i = order.size(); i-- > 1;) {
    if (i / 2 != block_of) {
      block_of = i / 2;
      block = random_block(key, number, static_cast<std::uint32_t>(block_of));
    }
    const std::size_t word = (i % 2) * 2;
    const std::size_t j =
        below(static_cast<std::uint32_t>(i + 1), block.v[word], block.v[word + 1]);
    std::swap(order[i], order[j]);
  }
}

}  // namespace zygos::io
