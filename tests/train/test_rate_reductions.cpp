// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/support/golden.hpp"

#include "zygos/core/error.hpp"
#include "zygos/train/rate_reductions.hpp"

#include <catch2/catch_test_macros.hpp>

#include <optional>
#include <vector>

namespace zygos::train::test_rate_reductions {
namespace {

/// Counts after each of the evaluations.
std::vector<std::int64_t> counts(const nn::Plateau& when, const std::vector<double>& losses) {
  RateReductions reductions(when);
  std::vector<std::int64_t> found;
  for (const double loss : losses) {
    reductions.note(loss);
    found.push_back(reductions.count());
  }
  return found;
}

using Counts = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("The rate is reduced after so many evaluations in a row that are no better") {
  const std::vector<double> losses{3, 2, 2, 2.5, 1.9, 1.9, 1.9, 1.9, 1.9, 1.9};
  CHECK(counts({.patience = 2}, losses) == Counts{0, 0, 0, 1, 1, 1, 2, 2, 3, 3});
  CHECK(counts({.patience = 3, .min_improvement = 0.2}, losses) ==
        Counts{0, 0, 0, 0, 1, 1, 1, 2, 2, 2});
  CHECK(counts({.patience = 1, .cooldown = 2}, {1, 1, 1, 1, 1, 1, 1}) ==
        Counts{0, 1, 1, 1, 2, 2, 2});
  RateReductions none;
  none.note(1.0);
  none.note(2.0);
  CHECK(none.count() == 0);
}

TEST_CASE("The rate is reduced when PyTorch reduces it") {
  int cases = 0;
  const auto entries = nn::rate_schedule_registry();
  for (const testing::Json& one : testing::golden_cases("rate")) {
    const auto schedule = testing::made(entries, testing::section_of(entries, one.at("rate")));
    if (!schedule->plateau()) {
      continue;
    }
    CAPTURE(one.at("rate").dump());
    Counts before{0};
    for (const std::int64_t count :
         counts(*schedule->plateau(), one.at("losses").get<std::vector<double>>())) {
      before.push_back(count);
    }
    before.pop_back();
    CHECK(before == one.at("reductions").get<Counts>());
    ++cases;
  }
  CHECK(cases >= 3);
}

TEST_CASE("The count of reductions goes on from a checkpoint, in the middle of a cooldown") {
  const nn::Plateau when{.patience = 1, .cooldown = 2};
  RateReductions whole(when);
  RateReductions first(when);
  for (const double loss : {0.1, 0.3, 0.2}) {
    whole.note(loss);
    first.note(loss);
  }
  io::Checkpoint checkpoint;
  first.add_facts(checkpoint.facts);
  RateReductions resumed(when);
  resumed.restore(checkpoint);
  CHECK(resumed.count() == 1);
  for (const double loss : {0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.05}) {
    whole.note(loss);
    resumed.note(loss);
    CHECK(resumed.count() == whole.count());
  }
  CHECK(whole.count() == 3);

  resumed.restore(io::Checkpoint());  // written without such a schedule
  CHECK(resumed.count() == 0);
  checkpoint.facts["plateau_reductions"] = "1.5";
  CHECK_THROWS_AS(resumed.restore(checkpoint), CheckpointError);
}

}  // namespace zygos::train::test_rate_reductions
