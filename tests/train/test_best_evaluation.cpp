// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/train/best_evaluation.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>

namespace zygos::train::test_best_evaluation {

TEST_CASE("What is best has the largest merit, whichever way its figure goes") {
  const Evaluation labels{.samples = 4, .loss = 0.5, .score = 0.75, .scored = true};
  const Evaluation numbers{.samples = 4, .loss = 0.5, .figures = {{"mae", 2.0}, {"r2", 0.9}}};

  CHECK(BestBy{}.merit(labels) == 0.75);
  CHECK(BestBy{}.merit(numbers) == -0.5);
  CHECK(BestBy{.figure = "loss"}.merit(labels) == -0.5);
  CHECK(BestBy{.figure = "mae", .smallest = true}.merit(numbers) == -2.0);
  CHECK(BestBy{.figure = "r2"}.merit(numbers) == 0.9);
  CHECK_FALSE(BestBy{.figure = "r2"}.merit(labels).has_value());
  CHECK_FALSE(
      BestBy{.figure = "r2"}.merit({.samples = 1, .figures = {{"r2", std::nan("")}}}).has_value());
}

TEST_CASE("The newest of equally good evaluations is the best one") {
  BestEvaluation best;
  CHECK_FALSE(best.is_last());
  best.note(-3.0);
  CHECK(best.is_last());
  best.note(-4.0);
  CHECK_FALSE(best.is_last());
  best.note(-3.0);
  CHECK(best.is_last());
}

TEST_CASE("The best merit goes on from a checkpoint with its bits") {
  BestEvaluation best;
  best.note(0.1);
  best.note(0.05);
  io::Checkpoint checkpoint;
  best.add_facts(checkpoint.facts);

  BestEvaluation resumed;
  resumed.restore(checkpoint);

  CHECK_FALSE(resumed.is_last());
  resumed.note(std::nextafter(0.1, 0.0));
  CHECK_FALSE(resumed.is_last());
  resumed.note(0.1);
  CHECK(resumed.is_last());
  resumed.restore(io::Checkpoint());  // written before there was a merit
  resumed.note(-5.0);
  CHECK(resumed.is_last());
  checkpoint.facts["highest_merit"] = "best";
  CHECK_THROWS_AS(resumed.restore(checkpoint), CheckpointError);
}

}  // namespace zygos::train::test_best_evaluation
