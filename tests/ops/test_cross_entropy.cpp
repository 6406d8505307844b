// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples with several labels, some of which are not judged.
#include "ops/loss.hpp"
#include "reference/loss.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace zygos::ops {
namespace {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_integer;
using testing::random_values;
using testing::rounded;

struct Extents {
  std::size_t samples;
  std::size_t columns;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE(
    "Labels below zero judge nothing, and a sample's loss is the mean of the rest", "",
    testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const auto& [samples, columns] :
       {Extents{0, 3}, Extents{1, 1}, Extents{33, 7}, Extents{100, 10}, Extents{5, 4097}}) {
    constexpr std::size_t positions = 6;
    CAPTURE(samples, columns);
    const std::size_t rows = samples * positions;
    const auto values = rounded<T>(random_values(rows * columns, 4));
    // Of sample n, 1 + n % 6 positions are judged.
    std::vector<double> given;
    for (std::uint32_t row = 0; row < rows; ++row) {
      given.push_back(
          static_cast<double>(random_integer(0, static_cast<std::int64_t>(columns) - 1, 9, row)));
    }
    const auto judged = [&](std::size_t row) { return row % positions <= row / positions % 6; };
    const Buffer<Exec, std::int32_t> all(given);
    auto expected = reference::cross_entropy(columns, values, all.values(), 0.01);
    double loss = 0.0, hits = 0.0, count = 0.0;
    for (std::size_t row = 0; row < rows; ++row) {
      const double share = judged(row) ? 1.0 / static_cast<double>(1 + row / positions % 6) : 0.0;
      given[row] = judged(row) ? given[row] : -1.0 - static_cast<double>(row % 2);
      loss += share * expected.losses[row];
      hits += judged(row) ? expected.hits[row] : 0;
      count += judged(row) ? 1.0 : 0.0;
      for (std::size_t k = 0; k < columns; ++k) {
        expected.gradient[row * columns + k] *= share;
      }
    }
    const Buffer<Exec, T> logits(values);
    const Buffer<Exec, std::int32_t> labels(given);
    const Buffer<Exec, double> losses(rows), totals(3);
    const Buffer<Exec, std::int32_t> scored(rows);
    const Buffer<Exec, T> gradient(rows * columns);
    const LossResults<Exec, T> results{losses.vector(), scored.vector(),
                                       gradient.matrix(samples, positions * columns),
                                       totals.vector()};

    cross_entropy(exec, logits.const_matrix(samples, positions * columns), labels.const_vector(),
                  0.01, results);
    exec.fence("zygos::test");

    CHECK(difference(gradient.values(), expected.gradient, 1.0) == "");
    CHECK(totals.values()[0] == Catch::Approx(loss).epsilon(1e-6));
    CHECK(totals.values()[1] == hits);
    CHECK(totals.values()[2] == count);
    CHECK((losses.guards_intact() && scored.guards_intact() && gradient.guards_intact() &&
           totals.guards_intact()));
  }
}

TEMPLATE_LIST_TEST_CASE("What is not judged may be NaN, and the first of equal classes is the hit",
                        "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const ClassOrder order = GENERATE(ClassOrder::last, ClassOrder::first);
  constexpr std::size_t positions = 19;
  constexpr std::size_t classes = 3;
  // All logits are equal; every third position is not judged, the others have labels 0 or 1.
  std::vector<double> values, given, expected;
  for (std::size_t i = 0; i < positions; ++i) {
    given.push_back(i % 3 == 0 ? -1.0 : static_cast<double>(i % 2));
  }
  for (std::size_t i = 0; i < positions * classes; ++i) {
    const std::size_t position = order == ClassOrder::last ? i / classes : i % positions;
    const std::size_t k = order == ClassOrder::last ? i % classes : i / positions;
    const bool judged = given[position] >= 0.0;
    values.push_back(judged ? 2.0 : std::nan(""));
    const double one = static_cast<double>(k) == given[position] ? 1.0 : 0.0;
    expected.push_back(judged ? (1.0 / 3.0 - one) / 12.0 : 0.0);
  }
  const Buffer<Exec, T> logits(values);
  const Buffer<Exec, std::int32_t> labels(given);
  const Buffer<Exec, double> losses(positions), totals(3);
  const Buffer<Exec, std::int32_t> scored(positions);
  const Buffer<Exec, T> gradient(values.size());

  cross_entropy(exec, logits.const_matrix(1, values.size()), labels.const_vector(), 1.0,
                LossResults<Exec, T>{losses.vector(), scored.vector(),
                                     gradient.matrix(1, values.size()), totals.vector()},
                order);
  exec.fence("zygos::test");

  CHECK(difference(gradient.values(), expected, 1.0) == "");
  CHECK(totals.values()[0] == Catch::Approx(std::log(3.0)).epsilon(1e-6));
  CHECK(totals.values()[2] == 12.0);
  const auto found = scored.values();
  for (std::size_t i = 0; i < positions; ++i) {
    CHECK(found[i] == (given[i] < 0.0 ? -1 : given[i] == 0.0 ? 1 : 0));
  }
  CHECK((losses.guards_intact() && scored.guards_intact() && gradient.guards_intact()));
}

}  // namespace zygos::ops
