// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/contest/contest.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
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

TEST_CASE("Every contender runs once a round, and not always behind the same one") {
  constexpr std::size_t count = 8;
  std::set<std::size_t> behind_the_first;
  for (std::int64_t round = 0; round < app::max_rounds; ++round) {
    const Indices order = app::order_of_round(count, round);
    CHECK(order == app::order_of_round(count, round));
    REQUIRE(std::set(order.begin(), order.end()).size() == count);
    REQUIRE(std::ranges::max(order) == count - 1);
    const auto first = std::ranges::find(order, std::size_t{0});
    if (first + 1 != order.end()) {
      behind_the_first.insert(*(first + 1));
    }
  }
  CHECK(behind_the_first.size() > 2);
}

}  // namespace zygos::test_contest
