// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/contest/contest.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace zygos::test_contest {
namespace {

using app::Contender;
using app::not_told_apart;
using Indices = std::vector<std::size_t>;

/// With a step a round.
Contender contender(std::vector<double> rounds) {
  Contender one;
  one.step_s = rounds;
  one.round_s = std::move(rounds);
  return one;
}

}  // namespace

TEST_CASE("A contender is told apart from the best if it is slower in every round") {
  // The machine gets slower; both are measured in every round.
  const std::vector<Contender> contenders{contender({2.1, 2.2, 2.5, 3.1, 4.1}),
                                          contender({2.0, 2.1, 2.4, 3.0, 4.0})};

  CHECK(not_told_apart(contenders, 1).empty());
}

TEST_CASE("One that is as fast in a single round is not told apart, and the fastest are first") {
  const std::vector<Contender> contenders{
      contender({5.0, 1.9, 5.0, 5.0, 5.0}), contender({2.0, 2.0, 2.0, 2.0, 2.0}),
      contender({3.0, 3.0, 3.0, 3.0, 3.0}), contender({2.1, 2.1, 2.0, 2.1, 2.1})};

  CHECK(not_told_apart(contenders, 1) == Indices{3, 0});
}

TEST_CASE("Fewer than five rounds tell nothing") {
  const std::vector<Contender> contenders{contender({2.0, 2.0, 2.0, 2.0}),
                                          contender({1.0, 3.0, 1.0, 1.0})};

  CHECK(not_told_apart(contenders, 1).empty());
}

}  // namespace zygos::test_contest
