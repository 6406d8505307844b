// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/train/early_stopping.hpp"

#include <catch2/catch_test_macros.hpp>

#include <vector>

namespace zygos::train::test_early_stopping {

namespace {

/// Evaluations until patience is out; -1: never.
int stop_after(EarlyStopping stopping, const std::vector<double>& merits) {
  int evaluations = 0;
  for (const double merit : merits) {
    stopping.note(merit);
    ++evaluations;
    if (stopping.is_out_of_patience()) {
      return evaluations;
    }
  }
  return -1;
}

}  // namespace

TEST_CASE("Patience is out after so many evaluations in a row that are no better") {
  CHECK(stop_after(EarlyStopping(2), {-3, -2, -2, -1, -1.5, -1}) == 6);
  CHECK(stop_after(EarlyStopping(3), {-3, -2, -2, -1, -1.5, -1}) == -1);
  CHECK(stop_after(EarlyStopping(1, 0.5), {-3, -2.6}) == 2);
  CHECK(stop_after(EarlyStopping(1, 0.5), {-3, -2.4}) == -1);
  CHECK(stop_after(EarlyStopping(), {-3, -4, -5}) == -1);
}

TEST_CASE("The count goes on from a checkpoint, with the bits of the best merit") {
  EarlyStopping stopping(2);
  stopping.note(0.1);
  stopping.note(0.05);
  io::Checkpoint checkpoint;
  stopping.add_facts(checkpoint.facts);
  EarlyStopping resumed(2);
  resumed.restore(checkpoint);
  CHECK_FALSE(resumed.is_out_of_patience());
  resumed.note(0.1);
  CHECK(resumed.is_out_of_patience());

  EarlyStopping fresh(2);
  fresh.restore(io::Checkpoint());  // written without patience
  fresh.note(-5.0);
  CHECK_FALSE(fresh.is_out_of_patience());
  checkpoint.facts["best_merit"] = "0.1x";
  CHECK_THROWS_AS(resumed.restore(checkpoint), CheckpointError);
}

}  // namespace zygos::train::test_early_stopping
