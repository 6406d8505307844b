// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "synthetic/sample_random.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace zygos::synthetic {

/// Draws pairs of square fields, row major; keeps its scratch from one to the next.
class FieldPainter {
 public:
  explicit FieldPainter(std::int64_t side);

  /// A smooth periodic field with values in [-1, 1), and what Burgers' equation makes of it.
  void burgers(SampleRandom& random, std::span<float> before, std::span<float> after);
  /// The same, and where slopes are steep afterwards.
  void fronts(SampleRandom& random, std::span<float> before, std::span<float> mask);
  /// Ellipses and what they cover.
  void blobs(SampleRandom& random, std::span<float> image, std::span<float> mask);

 private:
  void smooth_field(SampleRandom& random, float amplitude, std::span<float> field);
  void advance(std::span<float> field);
  std::size_t at(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row * side_ + column);
  }

  std::int64_t side_;
  std::vector<float> next_;
};

}  // namespace zygos::synthetic
