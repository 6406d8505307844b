// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/host/prepacked_rows.hpp"
#include "reference/gemm.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace zygos::ops::test_prepacked_rows {
namespace {

using testing::difference;
using testing::random_values;
using testing::rounded;

constexpr std::size_t gap = 5;
constexpr double guard_word = 113.0;

/// Rows with gaps behind them, after one more.
template <class T>
std::vector<T> apart(const std::vector<double>& values, std::size_t width) {
  std::vector<T> memory(gap, static_cast<T>(guard_word));
  for (std::size_t i = 0; i < values.size(); ++i) {
    memory.push_back(static_cast<T>(values[i]));
    if (i % width == width - 1) {
      memory.insert(memory.end(), gap, static_cast<T>(guard_word));
    }
  }
  return memory;
}

struct Extents {
  std::size_t rows;    ///< that are packed
  std::size_t begin;   ///< of those that are multiplied
  std::size_t others;  ///< of the other operand
  std::size_t depth;
};

/// What is wrong with c (m, n) [+]= a b^T, of which one operand is rows of a packed one.
template <class T>
std::string complaint(Operand which, const Extents& dimensions, bool added) {
  const std::size_t used = dimensions.rows - dimensions.begin;
  const std::size_t m = which == Operand::first ? used : dimensions.others;
  const std::size_t n = which == Operand::first ? dimensions.others : used;
  const std::size_t depth = dimensions.depth;
  const auto packed = rounded<T>(random_values(dimensions.rows * depth, 1));
  const auto other = rounded<T>(random_values(dimensions.others * depth, 2));
  const auto before = rounded<T>(random_values(m * n, 3));
  const std::vector<double> part(
      packed.begin() + static_cast<std::ptrdiff_t>(dimensions.begin * depth), packed.end());
  const auto& a = which == Operand::first ? part : other;
  const auto& b = which == Operand::first ? other : part;
  std::vector<double> expected =
      reference::gemm(m, n, depth, a, reference::transposed(n, depth, b));

  const std::vector<T> from = apart<T>(packed, depth);
  const std::vector<T> of_other = apart<T>(other, depth);
  std::vector<T> c = apart<T>(before, n);
  const auto rows = std::make_unique<PrepackedRows<T>>();
  rows->pack(from.data() + gap, depth + gap, dimensions.rows, depth);
  rows->multiply(
      which, dimensions.begin,
      {GemmForm::nt, m, n, depth, which == Operand::first ? nullptr : of_other.data() + gap,
       depth + gap, which == Operand::first ? of_other.data() + gap : nullptr, depth + gap,
       c.data() + gap, n + gap, added});

  std::vector<T> result;
  bool intact = std::all_of(c.begin(), c.begin() + gap, [](T x) { return x == T(guard_word); });
  for (auto row = c.begin() + gap; row != c.end(); row += static_cast<std::ptrdiff_t>(n + gap)) {
    const auto end = row + static_cast<std::ptrdiff_t>(n);
    result.insert(result.end(), row, end);
    intact = intact && std::all_of(end, end + gap, [](T x) { return x == T(guard_word); });
  }
  for (std::size_t i = 0; added && i < expected.size(); ++i) {
    expected[i] += before[i];
  }
  const auto tolerance = static_cast<double>(depth + 2);
  return difference(result, expected, tolerance) + (intact ? "" : "wrote beside the result");
}

template <class T>
void check(const Extents& dimensions) {
  CAPTURE(dimensions.rows, dimensions.begin, dimensions.others, dimensions.depth);
  REQUIRE(PrepackedRows<T>::fits(dimensions.rows, dimensions.depth));
  for (const Operand which : {Operand::first, Operand::second}) {
    for (const bool added : {false, true}) {
      CAPTURE(static_cast<int>(which), added);
      CHECK(complaint<T>(which, dimensions, added) == "");
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("Prepacked rows are either operand of a GEMM", "", float, double) {
  for (std::size_t rows = 1; rows <= 64; ++rows) {
    check<TestType>({rows, 0, 13, 19});
    check<TestType>({rows, 0, 64, 33});
  }
  check<TestType>({64, 0, 1, 256});
  check<TestType>({40, 0, 64, 250});
}

TEMPLATE_TEST_CASE("Prepacked rows from a sixteenth on are an operand, too", "", float, double) {
  for (const std::size_t begin : {16U, 32U, 48U}) {
    for (const std::size_t rows : {std::size_t{64}, std::size_t{53}, begin + 1}) {
      check<TestType>({rows, begin, 16, 40});
      check<TestType>({rows, begin, 7, 1});
    }
  }
}

TEMPLATE_TEST_CASE("Rows that there is no room for don't fit", "", float, double) {
  using Rows = PrepackedRows<TestType>;
  constexpr std::size_t most = Rows::max_numbers / Rows::max_rows;
  CHECK(Rows::fits(Rows::max_rows, most));
  CHECK_FALSE(Rows::fits(Rows::max_rows, most + 1));
  CHECK_FALSE(Rows::fits(Rows::max_rows + 1, 1));
  CHECK_FALSE(Rows::fits(0, 1));
  CHECK_FALSE(Rows::fits(1, 0));
}

}  // namespace zygos::ops::test_prepacked_rows
