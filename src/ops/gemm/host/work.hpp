// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// How much work a GEMM of a host lane is, and how many of its tiles a thread takes at a time.
#pragma once

#include <cstdint>

namespace zygos::ops {

/// Multiplications, and elements of activations that are read and written: those lie in the caches
/// of the threads that had them last.
struct GemmWork {
  std::int64_t volume;
  std::int64_t elements;
};

/// Multiplications that take as long as an exponential.
inline constexpr std::int64_t exponential_volume = 64;

/// m x n results over k, or over the rows of a batch if those are summed.
constexpr GemmWork gemm_work(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {m * n * k, m * (n + k)};
}
constexpr GemmWork gemm_tn_work(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {m * n * k, k * (m + n)};
}

/// Tiles that a thread takes at a time: all `count` of a product so small that waking another
/// thread, and fetching what it has in its cache, would take longer than the product.
constexpr std::int64_t grain_size(const GemmWork& work, std::int64_t count) {
  constexpr std::int64_t serial_volume = 400'000;
  constexpr std::int64_t serial_elements = 8192;
  return work.volume <= serial_volume && work.elements <= serial_elements ? count : 1;
}

}  // namespace zygos::ops
