// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The chooser of attention's block size on a host lane, as a table.
#pragma once

#include "ops/gemm/host/bf16x3_gemm.hpp"

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace zygos::ops::attention {

/// Positions of a block, and of a part on the diagonal, where a query is multiplied by no more keys
/// than it sees: a small block's part is a few vectors, a large one is for AMX, whose tiles should
/// be full. Exponentials are of whole blocks, so a short sequence has a short one.
inline constexpr std::size_t short_block = 32;
inline constexpr std::size_t small_block = 64;
inline constexpr std::size_t large_block = 128;
inline constexpr std::size_t small_part = 16;
inline constexpr std::size_t min_of_large = 512;

/// A row of the table. The first that applies is taken.
struct BlockRule {
  std::size_t block;
  std::string_view name;
  std::string_view condition;
  bool (*applies)(bool is_float, std::size_t positions);
};
inline bool fills_amx(bool is_float, std::size_t positions) {
  return is_float && positions >= min_of_large && has_bf16x3_gemm();
}
inline bool fits_short(bool, std::size_t positions) { return positions <= short_block; }
inline bool always(bool, std::size_t) { return true; }
inline constexpr std::array<BlockRule, 3> block_rules{{
    {short_block, "short", "32 positions or fewer", fits_short},
    {large_block, "large", "float, bf16x3 GEMM, 512 positions or more", fills_amx},
    {small_block, "small", "always", always},
}};

/// Of sequences of so many positions. Many positions fill AMX's tiles, few compute less of what is
/// masked.
template <class T>
std::size_t host_block(std::size_t positions) {
  for (const BlockRule& rule : block_rules) {
    if (rule.applies(std::is_same_v<T, float>, positions)) {
      return rule.block;
    }
  }
  return block_rules.back().block;
}

}  // namespace zygos::ops::attention
