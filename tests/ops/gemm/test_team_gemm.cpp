// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/device/team_gemm.hpp"
#include "stored_product.hpp"

#include <catch2/catch_template_test_macros.hpp>

#include <array>

namespace zygos::ops::test_team_gemm {
namespace {

using testing::Buffer;
using testing::check_orders;
using testing::make_exec;
using testing::random_values;
using testing::Stored;

template <std::size_t down, std::size_t across>
struct By {
  static constexpr std::array<std::size_t, 2> name{down, across};
  template <class Exec, class Product>
  static void launch(const Exec& exec, const Product& product) {
    detail::launch_team_gemm<down, across, float>("zygos::test", exec, product);
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("Every tile of a team equals the definition", "", testing::AllSpaces) {
  check_orders<By<1, 8>, TestType>();
  check_orders<By<2, 8>, TestType>();
  check_orders<By<4, 4>, TestType>();
  check_orders<By<4, 8>, TestType>();
  check_orders<By<8, 8>, TestType>();
}

TEMPLATE_LIST_TEST_CASE("Many columns take a larger tile, to the same bits", "",
                        testing::AllSpaces) {
  const TestType exec = make_exec<TestType>();
  constexpr std::int64_t columns = enough_tiles * 128, depth = 3;
  for (const std::int64_t rows : {40, 70}) {
    const Buffer<TestType, float> a(random_values(static_cast<std::size_t>(rows * depth), 1));
    const Buffer<TestType, float> b(random_values(columns * depth, 2));
    const Buffer<TestType, float> c(static_cast<std::size_t>(rows * columns));
    const Buffer<TestType, float> small(static_cast<std::size_t>(rows * columns));

    team_gemm<float>("zygos::test", exec,
                     Stored<true, false>{1, rows, columns, depth, a.data(), b.data(), c.data()});
    By<4, 4>::launch(
        exec, Stored<true, false>{1, rows, columns, depth, a.data(), b.data(), small.data()});
    exec.fence("zygos::test");

    CAPTURE(rows);
    CHECK(c.values() == small.values());
  }
}

}  // namespace zygos::ops::test_team_gemm
