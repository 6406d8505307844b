// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs that end with numbers that are not finite.
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <filesystem>
#include <string>

namespace zygos::test::test_diverging {

using Catch::Matchers::ContainsSubstring;

TEST_CASE(
    "numbers that outgrow their type end with 7, step and layer, and leave a good checkpoint") {
  const auto policy =
      GENERATE(as<std::string>{}, "{type: single, lane: device}",
               "{type: gpipe, micro_batches: 4, recompute: always}", "{type: data_parallel}");
  CAPTURE(policy);
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  // The eleventh update makes weights that are large, the next step's products no numbers.
  const Outcome diverged = zygos_run(
      unmeasured_words(
          {"policy=" + policy,
           "optimizer={type: sgd, learning_rate: 0.01, schedule: {type: step, every: 10 steps, "
           "factor: 1e30}}",
           "checkpoint.every=1 steps"}),
      scratch.path());
  CHECK(diverged.code == 7);
  CHECK_THAT(diverged.err, ContainsSubstring("step 12") &&
                               ContainsSubstring("the first layer with a value that is not finite "
                                                 "is '") &&
                               ContainsSubstring("on lane '"));
  CHECK(nlohmann::json::parse(diverged.out)["error"]["code"] == 7);
  REQUIRE(checkpoints_in(scratch.path()) > 0);
  const auto newest = newest_checkpoint_in(scratch.path());
  const Outcome shown = zygos_run({"inspect", newest.string()}, scratch.path());
  CHECK(shown.code == 0);
  CHECK_THAT(shown.out + shown.err, !ContainsSubstring("not finite") && !ContainsSubstring("nan"));
}

}  // namespace zygos::test::test_diverging
