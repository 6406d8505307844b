// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/device/matrix_gemm.hpp"
#include "stored_product.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include <array>

namespace zygos::ops::test_matrix_gemm {
namespace {

using testing::Buffer;
using testing::check_orders;
using testing::make_exec;
using testing::random_values;
using testing::Stored;

template <std::size_t warps_down, std::size_t warps_across, std::size_t down, std::size_t across>
struct By {
  using Tile = detail::MatrixTile<warps_down, warps_across, down, across>;
  static constexpr std::array<std::size_t, 2> name{Tile::rows, Tile::columns};
  template <class Exec, class Product>
  static void launch(const Exec& exec, const Product& product) {
    detail::launch_matrix_gemm<Tile>("zygos::test", exec, product);
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("Every tile of matrix units equals the definition", "",
                        testing::AllSpaces) {
  check_orders<By<1, 8, 1, 1>, TestType>();
  check_orders<By<2, 4, 1, 2>, TestType>();
  check_orders<By<2, 4, 2, 1>, TestType>();
  check_orders<By<2, 4, 4, 2>, TestType>();
}

TEMPLATE_LIST_TEST_CASE("Operands that are not bf16 are rounded before they are multiplied", "",
                        testing::AllSpaces) {
  const TestType exec = make_exec<TestType>();
  // Half of bf16's last place above one, ties to even, and three quarters of it.
  const Buffer<TestType, float> a(std::vector<double>{1.00390625, 1.005859375});
  const Buffer<TestType, float> b(std::vector<double>{1.0, 1.0});
  const Buffer<TestType, float> c(1);

  matrix_gemm("zygos::test", exec, Stored<true, true>{1, 1, 1, 2, a.data(), b.data(), c.data()});
  exec.fence("zygos::test");

  CHECK(c.values() == std::vector<float>{2.0F * (1.0F + 1.0078125F)});
}

TEMPLATE_LIST_TEST_CASE("Many rows and columns take the large tile, to the same bits", "",
                        testing::AllSpaces) {
  const TestType exec = make_exec<TestType>();
  constexpr std::int64_t rows = 8 * 128, columns = 16 * 128, depth = 3;
  const Buffer<TestType, float> a(random_values(rows * depth, 1)),
      b(random_values(columns * depth, 2));
  const Buffer<TestType, float> c(rows * columns), small(rows * columns);

  matrix_gemm("zygos::test", exec,
              Stored<true, false>{1, rows, columns, depth, a.data(), b.data(), c.data()});
  By<2, 4, 2, 1>::launch(
      exec, Stored<true, false>{1, rows, columns, depth, a.data(), b.data(), small.data()});
  exec.fence("zygos::test");

  CHECK(c.values() == small.values());
}

}  // namespace zygos::ops::test_matrix_gemm
