// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A product for the tiles of a device (ops/gemm/device/team_gemm.hpp), and its check against the
// definition, for operands of either order.
#pragma once

#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::testing {

/// Several matrices, each operand stored along k or across; results are twice the sums, to show
/// that `store` is given what `column` made.
template <bool a_along, bool b_along>
struct Stored {
  static constexpr bool a_along_depth = a_along;
  static constexpr bool b_along_depth = b_along;
  struct Column {
    std::int64_t index;
    std::int64_t n;
    float factor;
  };
  struct Depth {
    std::int64_t k;
  };
  std::int64_t batch, rows, columns, depth;
  const float* left;
  const float* right;
  float* results;

  KOKKOS_FUNCTION Column column(std::int64_t index, std::int64_t n) const { return {index, n, 2}; }
  KOKKOS_FUNCTION Depth at_depth(std::int64_t, std::int64_t k) const { return {k}; }
  KOKKOS_FUNCTION float a(std::int64_t index, std::int64_t m, const Depth& at) const {
    return left[index * rows * depth + (a_along ? m * depth + at.k : at.k * rows + m)];
  }
  KOKKOS_FUNCTION float b(const Column& at, const Depth& row) const {
    return right[at.index * columns * depth +
                 (b_along ? at.n * depth + row.k : row.k * columns + at.n)];
  }
  KOKKOS_FUNCTION void store(std::int64_t index, std::int64_t m, std::int64_t n, const Column& at,
                             float sum) const {
    results[(index * rows + m) * columns + n] = at.factor * sum;
  }
};

struct Extents {
  std::int64_t batch, rows, columns, depth;
};
/// None, one, less than a square, ends within squares and tiles, several tiles and blocks of k.
inline const std::vector<Extents> product_shapes{
    {1, 3, 2, 0},    {2, 0, 3, 4},    {1, 1, 1, 1},     {2, 16, 16, 32},
    {1, 17, 15, 33}, {3, 40, 130, 7}, {2, 131, 70, 65}, {1, 129, 257, 31}};

/// `Launch`: has `name`, and launch(exec, product).
template <class Launch, bool a_along, bool b_along, class Exec>
void check_tile(const Exec& exec) {
  for (const auto& [batch, rows, columns, depth] : product_shapes) {
    CAPTURE(Launch::name, a_along, b_along, batch, rows, columns, depth);
    const auto of_left = static_cast<std::size_t>(batch * rows * depth);
    const auto of_right = static_cast<std::size_t>(batch * columns * depth);
    const auto left = rounded<bf16>(random_values(of_left, 1));
    const auto right = rounded<bf16>(random_values(of_right, 2));
    std::vector<double> expected;
    for (std::int64_t at = 0; at < batch * rows * columns; ++at) {
      const std::int64_t index = at / (rows * columns), m = at / columns % rows, n = at % columns;
      double sum = 0.0;
      for (std::int64_t k = 0; k < depth; ++k) {
        const std::int64_t of_a = index * rows * depth + (a_along ? m * depth + k : k * rows + m);
        const std::int64_t of_b =
            index * columns * depth + (b_along ? n * depth + k : k * columns + n);
        sum += left[static_cast<std::size_t>(of_a)] * right[static_cast<std::size_t>(of_b)];
      }
      expected.push_back(2.0 * sum);
    }
    const Buffer<Exec, float> a(left), b(right);
    const Buffer<Exec, float> c(std::vector<double>(expected.size(), std::nan("")));

    Launch::launch(
        exec, Stored<a_along, b_along>{batch, rows, columns, depth, a.data(), b.data(), c.data()});
    exec.fence("zygos::test");

    CHECK(difference(c.values(), expected, 4.0 + static_cast<double>(depth)) == "");
    CHECK(c.guards_intact());
  }
}

template <class Launch, class Exec>
void check_orders() {
  const Exec exec = make_exec<Exec>();
  check_tile<Launch, true, true>(exec);
  check_tile<Launch, true, false>(exec);
  check_tile<Launch, false, true>(exec);
  check_tile<Launch, false, false>(exec);
}

}  // namespace zygos::testing
