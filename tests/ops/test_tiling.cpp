// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/tiling.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <vector>

namespace zygos::ops {
namespace {

struct Extents {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};

/// How often each element of the product lies in a tile.
std::vector<int> coverage(const Extents& shape) {
  std::vector<int> count(static_cast<std::size_t>(shape.m * shape.n), 0);
  const Tiling tiling(shape.m, shape.n, shape.k);
  for (std::int64_t i = 0; i < tiling.count(); ++i) {
    const Tile tile = tiling[i];
    for (std::int64_t row = tile.row; row < tile.row + tile.rows; ++row) {
      for (std::int64_t column = tile.column; column < tile.column + tile.columns; ++column) {
        ++count[static_cast<std::size_t>(row * shape.n + column)];
      }
    }
  }
  return count;
}

}  // namespace

TEST_CASE("Tiles cover every element of a product exactly once") {
  for (const Extents& shape : {Extents{1, 1, 1},
                               {100, 128, 784},
                               {784, 128, 100},
                               {100, 10, 128},
                               {33, 65, 4000},
                               {257, 1025, 600},
                               {2048, 2048, 256},
                               {256, 2048, 2048},
                               {5, 3000, 1},
                               {3000, 5, 100000}}) {
    const std::vector<int> count = coverage(shape);

    CHECK(count == std::vector<int>(count.size(), 1));
  }
}

TEST_CASE("An empty product has no tiles") {
  CHECK(Tiling(0, 5, 3).count() == 0);
  CHECK(Tiling(5, 0, 3).count() == 0);
  CHECK(Tiling(5, 3, 0).count() == 1);
}

TEST_CASE("A product of training size has work for many threads") {
  CHECK(Tiling(100, 128, 784).count() >= 8);
  CHECK(Tiling(784, 128, 100).count() >= 8);
  CHECK(Tiling(256, 2048, 2048).count() >= 8);
  CHECK(Tiling(2048, 2048, 256).count() >= 8);
}

}  // namespace zygos::ops
