// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/random_words.hpp"

#if defined(__AVX512F__) || defined(__AVX2__)
#define ZYGOS_HAS_WIDE_PRODUCTS 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"  // GCC 12 sees it in its own header (bug 105593)
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

namespace zygos::ops {

#if defined(ZYGOS_HAS_WIDE_PRODUCTS)
namespace {

// A word lies in the lower half of a number of 64 bits. There the instruction that multiplies looks
// for it, whatever the upper half holds, and there a product's lower word lies already: a round
// moves nothing but the products' upper words. (What a compiler makes of random_block in a loop
// keeps words side by side and moves them back and forth: measured to take 2.6 times as long.)
#if defined(__AVX512F__)
typedef std::uint64_t Words __attribute__((vector_size(64)));
using Register = __m512i;
constexpr Words numbers{0, 4, 1, 5, 2, 6, 3, 7};  ///< as `store` wants them
inline Register product(Register x, Register y) { return _mm512_mul_epu32(x, y); }
inline Register even(Register x, Register y) { return _mm512_unpacklo_epi64(x, y); }
inline Register odd(Register x, Register y) { return _mm512_unpackhi_epi64(x, y); }
inline void put(std::uint32_t* to, Register x) { _mm512_storeu_si512(to, x); }
#else
typedef std::uint64_t Words __attribute__((vector_size(32)));
using Register = __m256i;
constexpr Words numbers{0, 2, 1, 3};  ///< as `store` wants them
inline Register product(Register x, Register y) { return _mm256_mul_epu32(x, y); }
inline Register even(Register x, Register y) { return _mm256_unpacklo_epi64(x, y); }
inline Register odd(Register x, Register y) { return _mm256_unpackhi_epi64(x, y); }
inline void put(std::uint32_t* to, Register x) {
  _mm256_storeu_si256(reinterpret_cast<Register*>(to), x);
}
#endif
constexpr std::size_t width = sizeof(Words) / sizeof(std::uint64_t);
constexpr std::size_t vectors = blocks_together / width;

inline Words all(std::uint64_t value) { return Words{} + value; }

inline Words times(Words x, std::uint64_t factor) {
  return reinterpret_cast<Words>(
      product(reinterpret_cast<Register>(x), reinterpret_cast<Register>(all(factor))));
}

/// Blocks as they lie in memory, of which each has its four words in four vectors.
inline void store(const Words (&word)[4], std::uint32_t* to) {
  const auto lower = reinterpret_cast<Register>((word[0] & all(0xFFFFFFFFU)) | (word[1] << 32));
  const auto upper = reinterpret_cast<Register>((word[2] & all(0xFFFFFFFFU)) | (word[3] << 32));
  put(to, even(lower, upper));
  put(to + 2 * width, odd(lower, upper));
}

}  // namespace

// philox4x32 of philox.hpp, all blocks at once.
void random_words(const RngKey& key, std::uint64_t major, std::uint32_t first,
                  std::uint32_t* words) {
  const std::uint32_t last = key.stream ^ (static_cast<std::uint32_t>(key.purpose) << 28);
  Words counter[vectors][4];
  for (std::size_t v = 0; v < vectors; ++v) {
    counter[v][0] = all(major);
    counter[v][1] = all(major >> 32);
    counter[v][2] = numbers + all(first + v * width);
    counter[v][3] = all(last);
  }
  auto key0 = static_cast<std::uint32_t>(key.seed);
  auto key1 = static_cast<std::uint32_t>(key.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (auto& word : counter) {
      const Words product0 = times(word[0], 0xD2511F53U);
      const Words product1 = times(word[2], 0xCD9E8D57U);
      word[0] = (product1 >> 32) ^ word[1] ^ all(key0);
      word[1] = product1;
      word[2] = (product0 >> 32) ^ word[3] ^ all(key1);
      word[3] = product0;
    }
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  for (std::size_t v = 0; v < vectors; ++v) {
    store(counter[v], words + 4 * width * v);
  }
}

#else

void random_words(const RngKey& key, std::uint64_t major, std::uint32_t first,
                  std::uint32_t* words) {
  for (std::uint32_t b = 0; b < blocks_together; ++b) {
    const PhiloxBlock block = random_block(key, major, first + b);
    for (std::size_t i = 0; i < 4; ++i) {
      words[4 * b + i] = block.v[i];
    }
  }
}

#endif

}  // namespace zygos::ops
