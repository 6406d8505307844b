// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/host/bf16x3_gemm.hpp"
#include "ops/gemm/host/host_gemm.hpp"
#include "ops/gemm/host/tiling.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <vector>

namespace zygos::ops::test_tiling {
namespace {

struct Extents {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};

/// Those of the host GEMM and of bf16x3 for some elements of threads.
std::vector<GemmTiling> tilings(const Extents& shape) {
  std::vector<GemmTiling> all;
  for (const std::int64_t threads : {1, 2, 8, 96}) {
    for (const GemmForm form : {GemmForm::nn, GemmForm::tn, GemmForm::nt}) {
      all.push_back(
          HostGemm<float>{form, shape.m, shape.n, shape.k, nullptr, nullptr, nullptr}.tiling(
              threads));
    }
    all.push_back(bf16x3_tiling(shape.m, shape.n, threads));
  }
  return all;
}

/// How often each element of the product lies in a tile.
std::vector<int> coverage(const Extents& shape, const GemmTiling& tiling) {
  std::vector<int> count(static_cast<std::size_t>(shape.m * shape.n), 0);
  for (std::int64_t i = 0; i < tiling.count(); ++i) {
    const GemmTile tile = tiling[i];
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
    for (const GemmTiling& tiling : tilings(shape)) {
      const std::vector<int> count = coverage(shape, tiling);

      CHECK(count == std::vector<int>(count.size(), 1));
    }
  }
}

TEST_CASE("An empty product has no tiles") {
  for (const GemmTiling& tiling : tilings({0, 5, 3})) {
    CHECK(tiling.count() == 0);
  }
  for (const GemmTiling& tiling : tilings({5, 0, 3})) {
    CHECK(tiling.count() == 0);
  }
  for (const GemmTiling& tiling : tilings({5, 3, 0})) {
    CHECK(tiling.count() >= 1);
  }
}

TEST_CASE("A product of training size has work for many threads") {
  const auto tiles = [](GemmForm form, std::int64_t m, std::int64_t n, std::int64_t k) {
    return HostGemm<float>{form, m, n, k, nullptr, nullptr, nullptr}.tiling(8).count();
  };
  // Forward passes, gradients of weights and of inputs.
  CHECK(tiles(GemmForm::nn, 100, 128, 784) >= 8);
  CHECK(tiles(GemmForm::tn, 784, 128, 100) >= 8);
  CHECK(tiles(GemmForm::nn, 256, 2048, 2048) >= 8);
  CHECK(tiles(GemmForm::nt, 256, 2048, 2048) >= 8);
  CHECK(tiles(GemmForm::tn, 2048, 2048, 256) >= 8);
  CHECK(bf16x3_tiling(256, 2048, 8).count() >= 8);
  CHECK(bf16x3_tiling(2048, 2048, 8).count() >= 8);
}

}  // namespace zygos::ops::test_tiling
