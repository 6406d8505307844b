// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// How an extent is cut into blocks.
#pragma once

#include <algorithm>
#include <cstdint>

namespace zygos::ops {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

/// f(begin, count, index) for parts of [begin, begin + count) that differ by one at max_size.
template <class F>
void for_each_part(std::int64_t begin, std::int64_t count, std::int64_t max_size, const F& f) {
  const std::int64_t parts = ceil_div(count, max_size);
  const std::int64_t end = begin + count;
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t size = (end - begin) / (parts - part);
    f(begin, size, part);
    begin += size;
  }
}

/// f(begin, count) for blocks of [0, k): one that is empty if k is zero, for a product of nothing
/// is zero.
template <class F>
void for_each_depth(std::int64_t k, std::int64_t max_size, const F& f) {
  std::int64_t begin = 0;
  do {
    f(begin, std::min(max_size, k - begin));
    begin += max_size;
  } while (begin < k);
}

}  // namespace zygos::ops
