// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The GEMM microkernel of bf16 operands. A word holds two elements of bf16 that are neighbours
// along k, the first one in its lower half; a block of results stays in registers, as floats, while
// the products of a column of such pairs and a row of them are added to it. AVX-512 BF16 has an
// instruction for it; elsewhere the pairs are widened to floats on the way.
#pragma once

#include "ops/gemm/microkernel/fma.hpp"

#if defined(__AVX512BF16__)
#include <immintrin.h>
#endif

namespace zygos::ops::microkernel {

#if defined(__AVX512BF16__)
inline constexpr bool has_avx512_bf16 = true;
#else
inline constexpr bool has_avx512_bf16 = false;
#endif

using Word = std::uint32_t;
using Words = Bits<float>::Vector;
using Floats = Simd<float>::Vector;

/// sums += x y, elements of the upper halves first. VDPBF16PS treats subnormal values as zero and
/// rounds both products, which widening does not.
template <bool by_instruction>
[[gnu::always_inline]] inline Floats add_pairs(const Floats& sums, const Words& x, const Words& y) {
#if defined(__AVX512BF16__)
  if constexpr (by_instruction) {
    return (Floats)_mm512_dpbf16_ps((__m512)sums, (__m512bh)x, (__m512bh)y);
  }
#endif
  const Words upper = Words{} | static_cast<std::int32_t>(0xFFFF0000U);
  const Floats added = sums + (Floats)(x & upper) * (Floats)(y & upper);
  return added + (Floats)(x << 16) * (Floats)(y << 16);
}

/// c (rows, vectors) [+]= x y over k elements; y is packed, (pairs of k, vectors).
struct Bf16Args {
  std::int64_t k = 0;
  const std::uint16_t* x = nullptr;  ///< rows of elements, or packed words (pairs of k, x_stride)
  std::int64_t x_stride = 0;         ///< elements from row to row, or words from pair to pair
  const Word* y = nullptr;
  float* c = nullptr;
  std::int64_t c_stride = 0;
  bool added = false;
};

/// The pair of x that a result's row has, in every element of a vector.
[[gnu::always_inline]] inline Words spread(Word word) {
  return Words{} + static_cast<std::int32_t>(word);
}

template <bool in_rows, bool by_instruction, std::size_t rows, std::size_t vectors>
[[gnu::noinline]] void multiply_pairs(const Bf16Args& operands) {
  const Bf16Args block = operands;
  Accumulators<float, rows, vectors> sums;
  unrolled<rows>([&](auto r) __attribute__((always_inline)) {
    unrolled<vectors>([&](auto v) __attribute__((always_inline)) { sums.at[r][v] = Floats{}; });
  });
  const Word* y = block.y;
  const auto step = [&](std::int64_t pair, std::size_t bytes) __attribute__((always_inline)) {
    struct {
      Words at[vectors];
    } right;
    unrolled<vectors>([&](auto v) __attribute__((always_inline)) {
      std::memcpy(&right.at[v], y + v * width<float>, sizeof(Words));
    });
    unrolled<rows>([&](auto r) __attribute__((always_inline)) {
      const std::uint16_t* const from = in_rows ? block.x + r * block.x_stride + 2 * pair
                                                : block.x + 2 * (pair * block.x_stride + r);
      Word word = 0;
      std::memcpy(&word, from, bytes);
      const Words left = spread(word);
      unrolled<vectors>([&](auto v) __attribute__((always_inline)) {
        sums.at[r][v] = add_pairs<by_instruction>(sums.at[r][v], left, right.at[v]);
      });
    });
    y += vectors * width<float>;
  };
  const std::int64_t pairs = in_rows ? block.k / 2 : (block.k + 1) / 2;
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    step(pair, sizeof(Word));
  }
  if (in_rows && block.k % 2 != 0) {
    step(pairs, sizeof(Word) / 2);  // what lies behind the row is not its own
  }
  unrolled<rows>([&](auto r) __attribute__((always_inline)) {
    unrolled<vectors>([&](auto v) __attribute__((always_inline)) {
      float* const to = block.c + r * block.c_stride + v * width<float>;
      store(to, block.added ? load(to) + sums.at[r][v] : sums.at[r][v]);
    });
  });
}

/// The same for dimensions known at run time: rows to max_rows, vectors to max_vectors.
template <bool in_rows, bool by_instruction>
void multiply_pairs(std::int64_t rows, std::int64_t vectors, const Bf16Args& block) {
  unrolled<max_vectors>([&](auto v) {
    unrolled<max_rows>([&](auto r) {
      if (vectors == v + 1 && rows == r + 1) {
        multiply_pairs<in_rows, by_instruction, static_cast<std::size_t>(r + 1),
                       static_cast<std::size_t>(v + 1)>(block);
      }
    });
  });
}

}  // namespace zygos::ops::microkernel
