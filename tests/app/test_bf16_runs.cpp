// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole runs with `precision: bf16`.
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <csignal>
#include <string>
#include <vector>

namespace zygos::test::test_bf16_runs {
namespace {

using Catch::Matchers::ContainsSubstring;

nlohmann::json trained(const std::vector<std::string>& further) {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  return train_unmeasured(scratch.path(), further);
}

}  // namespace

TEST_CASE("A run with bf16 learns what a float32 run learns") {
  const auto narrow = trained({"precision=bf16"});
  const auto full = trained({});

  const double accuracy = narrow["test_accuracy"];
  CHECK(accuracy > 0.7);
  CHECK(std::abs(accuracy - full["test_accuracy"].get<double>()) <= 0.02);
  CHECK(narrow["weights_xxh64"] != full["weights_xxh64"]);
}

TEST_CASE("A run with bf16 has the same bits for one to three threads") {
  const auto one = trained({"precision=bf16", "--threads", "1"});
  for (const char* threads : {"2", "3"}) {
    CHECK(trained({"precision=bf16", "--threads", threads})["weights_xxh64"] ==
          one["weights_xxh64"]);
  }
}

TEST_CASE("A run with bf16 that is stopped goes on to the same bits, and not as float32") {
  const std::vector<std::string> words{"train.epochs=120", "checkpoint.every=20 steps",
                                       "precision=bf16"};
  const auto undisturbed = trained(words);
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  {
    Process process(unmeasured_words(words), scratch.path());
    REQUIRE(wait_for_checkpoints(scratch.path(), 2));
    process.send(SIGKILL);
    process.wait();
  }

  const Outcome refused = zygos_run(
      unmeasured_words({"train.epochs=120", "checkpoint.every=20 steps"}), scratch.path());
  CHECK(refused.code == 4);
  CHECK_THAT(refused.err, ContainsSubstring("precision: bf16 -> float32"));

  const auto resumed = train_unmeasured(scratch.path(), words);
  CHECK(resumed["weights_xxh64"] == undisturbed["weights_xxh64"]);
}

}  // namespace zygos::test::test_bf16_runs
