// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/philox.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::testing {

/// Doubles uniform in [-1, 1), a pure function of the seed.
inline std::vector<double> random_values(std::size_t count, std::uint64_t seed) {
  std::vector<double> values(count);
  const RngKey key{seed, RngPurpose::noise, 0};
  for (std::size_t i = 0; i < count; ++i) {
    const PhiloxBlock block = random_block(key, i, 0);
    values[i] = 2.0 * uniform_double(block.v[0], block.v[1]) - 1.0;
  }
  return values;
}

/// The same rounded to T.
template <class T>
std::vector<T> random_values_of(std::size_t count, std::uint64_t seed) {
  const auto values = random_values(count, seed);
  return {values.begin(), values.end()};
}

/// An integer in [least, most].
inline std::int64_t random_integer(std::int64_t least, std::int64_t most, std::uint64_t seed,
                                   std::uint32_t index) {
  const PhiloxBlock block = random_block({seed, RngPurpose::noise, 1}, index, 0);
  return least +
         static_cast<std::int64_t>(block.v[0] % static_cast<std::uint32_t>(most - least + 1));
}

}  // namespace zygos::testing
