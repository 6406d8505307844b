// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/synthetic/token_chain.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

namespace zygos::test_token_chain {
namespace {

using zygos::Shape;
using zygos::io::Dataset;
using zygos::synthetic::make_token_chain;
using zygos::synthetic::TokenChainOptions;

}  // namespace

TEST_CASE("A chain's labels are its next tokens") {
  const Dataset data = make_token_chain({.samples = 3, .sequence = 50, .vocabulary = 9});

  CHECK(data.inputs.shape == Shape{3, 50});
  CHECK(data.classes == 9);
  CHECK_NOTHROW(zygos::io::check(data));
  const auto inputs = data.inputs.as<std::int32_t>();
  const auto labels = data.targets.as<std::int32_t>();
  for (std::size_t i = 0; i + 1 < 50; ++i) {
    CHECK(inputs[i + 1] == labels[i]);
  }
}

TEST_CASE("A sequence of a chain depends on its place in the stream alone") {
  const Dataset whole = make_token_chain({.samples = 9, .sequence = 20});
  const Dataset part = make_token_chain({.samples = 2, .first = 7, .sequence = 20});
  const Dataset other = make_token_chain({.samples = 9, .sequence = 20, .seed = 2});

  const auto tail = whole.inputs.as<std::int32_t>().subspan(7 * 20);
  CHECK(std::ranges::equal(tail, part.inputs.as<std::int32_t>()));
  CHECK_FALSE(std::ranges::equal(whole.inputs.as<std::int32_t>(), other.inputs.as<std::int32_t>()));
}

TEST_CASE("Four tokens may follow one, with the entropy that the loss of no model is below") {
  const Dataset data = make_token_chain({.samples = 2000, .sequence = 100, .vocabulary = 500});
  const auto inputs = data.inputs.as<std::int32_t>();
  const auto labels = data.targets.as<std::int32_t>();
  std::map<std::int32_t, std::map<std::int32_t, double>> counts;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    counts[inputs[i]][labels[i]] += 1.0;
  }
  double entropy = 0.0;
  for (const auto& [token, followers] : counts) {
    CHECK(followers.size() <= 4);
    double all = 0.0;
    for (const auto& [next, count] : followers) {
      all += count;
    }
    for (const auto& [next, count] : followers) {
      entropy -= count * std::log(count / all) / static_cast<double>(inputs.size());
    }
  }
  CHECK(entropy == Catch::Approx(1.75 * std::log(2.0)).epsilon(0.02));
}

TEST_CASE("A chain refuses what it can't draw") {
  CHECK_THROWS_AS(make_token_chain({.samples = 0}), zygos::UsageError);
  CHECK_THROWS_AS(make_token_chain({.first = -1}), zygos::UsageError);
  CHECK_THROWS_AS(make_token_chain({.sequence = 0}), zygos::UsageError);
  CHECK_THROWS_AS(make_token_chain({.vocabulary = 1}), zygos::UsageError);
  CHECK_THROWS_AS(make_token_chain({.vocabulary = 20'000'000}), zygos::UsageError);
}

}  // namespace zygos::test_token_chain
