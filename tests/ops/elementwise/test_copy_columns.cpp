// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/copy_columns.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <vector>

namespace zygos::ops::test_copy_columns {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

namespace {

struct Block {
  std::size_t rows, from_columns, first_from, to_columns, first_to, columns;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("A block of columns moves and nothing else changes", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const Block& block :
       {Block{0, 3, 0, 4, 0, 3}, Block{5, 3, 0, 3, 0, 0}, Block{1, 1, 0, 1, 0, 1},
        Block{7, 5, 2, 9, 4, 3}, Block{33, 130, 1, 257, 127, 129},
        Block{3, 40000, 0, 40001, 1, 40000}, Block{20011, 3, 1, 2, 0, 2}}) {
    CAPTURE(block.rows, block.columns);
    const auto source = rounded<T>(random_values(block.rows * block.from_columns, 3));
    std::vector<double> expected = rounded<T>(random_values(block.rows * block.to_columns, 4));
    const Buffer<Exec, T> from(source);
    const Buffer<Exec, T> to(expected);
    for (std::size_t row = 0; row < block.rows; ++row) {
      for (std::size_t column = 0; column < block.columns; ++column) {
        expected[row * block.to_columns + block.first_to + column] =
            source[row * block.from_columns + block.first_from + column];
      }
    }

    copy_columns<Exec, T>(exec, {from.data(), block.rows, block.from_columns}, block.first_from,
                          {to.data(), block.rows, block.to_columns}, block.first_to, block.columns);
    exec.fence("zygos::test");

    CHECK(difference(to.values(), expected, 0.0) == "");
    CHECK(to.guards_intact());
  }
}

}  // namespace zygos::ops::test_copy_columns
