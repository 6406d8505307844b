// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Random words for a host lane's kernels, which want more than one block at a time. Without Kokkos,
// because nvcc can't read what makes them.
#pragma once

#include "zygos/core/philox.hpp"

#include <cstddef>
#include <cstdint>

namespace zygos::ops {

/// Blocks that are drawn side by side: two vectors of AVX-512, four of AVX2.
inline constexpr std::size_t blocks_together = 16;

/// Word i of block b to words[4 b + i]: what random_block(key, major, first + b) has there, where
/// first + b is taken modulo 2^32. `words` has room for blocks_together.
void random_words(const RngKey& key, std::uint64_t major, std::uint32_t first,
                  std::uint32_t* words);

}  // namespace zygos::ops
