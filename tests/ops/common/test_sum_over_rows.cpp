// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/common/row_reduction.hpp"
#include "ops/common/sum_over_rows.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace zygos::ops::test_sum_over_rows {
namespace {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

/// Rows and columns: none, one, fewer and more than a team's, with the larger number of strands.
const std::vector<std::pair<std::size_t, std::size_t>> shapes{
    {0, 5}, {5, 0}, {1, 1}, {31, 8}, {33, 9}, {100, 10}, {1025, 17}, {3000, 3}};

template <class Exec, class T>
std::vector<T> summed_by_teams(const Exec& exec, std::size_t rows, std::size_t columns,
                               const std::vector<double>& values) {
  const Buffer<Exec, T> matrix(values);
  const Buffer<Exec, T> sums(std::vector<double>(columns, std::nan("")));
  sum_over_rows_by_teams("zygos::test", exec,
                         RowSums<T>{rows, columns, matrix.data(), sums.data(), false});
  exec.fence("zygos::test");
  CHECK(sums.guards_intact());
  return sums.values();
}

/// Adds up a matrix by the threads of a team, and counts how often each element was visited.
template <class Exec, class T>
struct Visit {
  std::size_t rows;
  std::size_t columns;
  const T* matrix;
  T* total;
  T* visits;

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<Exec>::member_type& team) const {
    const TeamRow<typename Kokkos::TeamPolicy<Exec>::member_type> threads{team};
    const auto sum = threads.sum(rows, columns, [&](std::size_t row, std::size_t column) {
      return static_cast<double>(matrix[row * columns + column]);
    });
    threads.each(rows, columns, [&](std::size_t row, std::size_t column) {
      visits[row * columns + column] += T(1);
    });
    threads.each(1, [&](std::size_t) { *total = static_cast<T>(sum); });
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("A team's sums over rows equal their definition", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const auto& [rows, columns] : shapes) {
    CAPTURE(rows, columns);
    const auto values = rounded<T>(random_values(rows * columns, 1));
    std::vector<double> expected(columns, 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      expected[i % columns] += values[i];
    }
    const double bound =
        4.0 + 0.1 * static_cast<double>(rows);  // of doubles, summed in another order
    CHECK(difference(summed_by_teams<Exec, T>(exec, rows, columns, values), expected, bound) == "");
  }
}

TEMPLATE_LIST_TEST_CASE("A team's sums over rows have the same bits on every space", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const auto& [rows, columns] : shapes) {
    CAPTURE(rows, columns);
    const auto values = random_values(rows * columns, 2);
    CHECK(summed_by_teams<Exec, T>(exec, rows, columns, values) ==
          summed_by_teams<Kokkos::Serial, T>(Kokkos::Serial(), rows, columns, values));
  }
}

TEMPLATE_LIST_TEST_CASE("A team visits every element of a matrix once", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const auto& [rows, columns] : shapes) {
    CAPTURE(rows, columns);
    const auto values = rounded<T>(random_values(rows * columns, 3));
    double expected = 0.0;
    for (const double value : values) {
      expected += value;
    }
    const Buffer<Exec, T> matrix(values);
    const Buffer<Exec, T> total(1);
    const Buffer<Exec, T> visits(std::vector<double>(values.size(), 0.0));
    Kokkos::parallel_for("zygos::test",
                         Kokkos::TeamPolicy<Exec>(exec, 1, threads_of_team<Exec>(96)),
                         Visit<Exec, T>{rows, columns, matrix.data(), total.data(), visits.data()});
    exec.fence("zygos::test");
    CHECK(difference(total.values(), {expected}, 8.0 + 0.1 * static_cast<double>(values.size())) ==
          "");
    CHECK(visits.values() == std::vector<T>(values.size(), T(1)));
  }
}

TEST_CASE("Every n-th element is the one that divisions find") {
  for (const std::size_t columns : {1U, 2U, 7U, 64U}) {
    for (const std::size_t step : {1U, 3U, 64U, 130U}) {
      std::size_t i = step / 2;
      for (RowMajor at(i, step, columns); at.row < 9; at.advance(), i += step) {
        CAPTURE(columns, step, i);
        REQUIRE(at.row == i / columns);
        REQUIRE(at.column == i % columns);
      }
      CHECK(i >= 9 * columns);
    }
  }
}

}  // namespace zygos::ops::test_sum_over_rows
