// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/plan/problem.hpp"
#include "zygos/schedule/ranges.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace zygos::plan {

/// Samples that can't be divided, counted as one.
inline std::int64_t units_of(const Problem& problem, schedule::SampleRange samples) {
  const std::int64_t unit = problem.unit();
  return (samples.count() + unit - 1) / unit;
}

/// The samples as `count` neighbouring micro-batches that are as equal as units allow. Requires
/// 1 <= count <= units_of().
inline std::vector<schedule::SampleRange> sample_pieces(const Problem& problem,
                                                        schedule::SampleRange samples,
                                                        std::int64_t count) {
  const std::int64_t units = units_of(problem, samples);
  const auto bound = [&](std::int64_t piece) {
    return std::min(samples.end, samples.begin + units * piece / count * problem.unit());
  };
  std::vector<schedule::SampleRange> pieces;
  for (std::int64_t piece = 0; piece < count; ++piece) {
    pieces.push_back({bound(piece), bound(piece + 1)});
  }
  return pieces;
}

}  // namespace zygos::plan
