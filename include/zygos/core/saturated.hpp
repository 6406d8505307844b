// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Saturating arithmetic, for numbers of a deck that are multiplied before anything could refuse
// them.
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>

namespace zygos {

/// a * b of numbers from 0 on; the largest there is where the product would be beyond it.
constexpr std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  return a != 0 && b > largest / a ? largest : a * b;
}

/// Least common multiple of numbers from 1 on; the largest there is where it would be beyond it.
constexpr std::int64_t saturated_lcm(std::int64_t a, std::int64_t b) {
  return saturated_product(a / std::gcd(a, b), b);
}

}  // namespace zygos
