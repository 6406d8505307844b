// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A learning rate that falls when evaluations get no better, from a deck.
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <csignal>
#include <limits>
#include <sstream>

namespace zygos::test::test_plateau {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using Words = std::vector<std::string>;

/// A rate that is too high at first.
const Words falling{
    "optimizer={type: adam, learning_rate: 0.08, schedule: {type: plateau, factor: 0.5, "
    "patience: 2, cooldown: 1}}",
    "train.epochs=60", "train.evaluate_every=10 steps", "train.report_every=10 steps",
    "checkpoint.every=20 steps"};

}  // namespace

TEST_CASE("the learning rate falls when the loss of evaluations stops to") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());

  train_to_the_end(scratch.path(), falling);

  // What the steps behind each evaluation took, by the definition.
  double rate = 0.08;
  double best = std::numeric_limits<double>::infinity();
  int since_best = 0;
  int cooling = 0;
  int lines = 0;
  std::istringstream text(read_text(scratch.path() / "runs/tiny/metrics.jsonl"));
  for (std::string line; std::getline(text, line);) {
    const auto object = nlohmann::json::parse(line);
    if (object["kind"] == "train") {
      CHECK(object["learning_rate"] == rate);
      ++lines;
    } else if (object["kind"] == "test") {
      since_best = object["test_loss"] < best ? 0 : since_best + 1;
      best = std::min(best, object["test_loss"].get<double>());
      if (cooling > 0) {
        --cooling;
        since_best = 0;
      }
      if (since_best == 2) {
        rate *= 0.5;
        cooling = 1;
        since_best = 0;
      }
    }
  }
  CHECK(lines == 90);
  CHECK(rate < 0.03);
}

TEST_CASE("a killed or stopped run is resumed with the learning rate that evaluations had left") {
  const Scratch undisturbed;
  write_tiny_deck(undisturbed.path());
  keep_tiny_profile(undisturbed.path());
  const std::string expected = train_to_the_end(undisturbed.path(), falling)["weights_xxh64"];
  for (const int signal : {SIGKILL, SIGTERM}) {
    const Scratch scratch;
    write_tiny_deck(scratch.path());
    keep_tiny_profile(scratch.path());
    Process process(train_words(falling), scratch.path());
    REQUIRE(wait_for_checkpoints(scratch.path(), 3));  // as many as are kept by default
    process.send(signal);
    REQUIRE(process.wait().code != 0);

    const auto end = json_of({"resume", "runs/tiny", "--json"}, scratch.path());

    CAPTURE(signal);
    CHECK(end["weights_xxh64"] == expected);
  }
}

TEST_CASE("a learning rate that goes by evaluations takes some") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const auto refused = [&](const std::string& word) {
    const Outcome outcome =
        zygos_run(train_words({"optimizer={type: sgd, schedule: plateau}", word}), scratch.path());
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK_THAT(refused("data.test_samples=0"),
             ContainsSubstring("'plateau'") && ContainsSubstring("data.validation"));
  CHECK_THAT(refused("train.evaluate_every=never"), ContainsSubstring("evaluate_every is never"));
}

}  // namespace zygos::test::test_plateau
