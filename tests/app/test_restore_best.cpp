// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// train.restore_best and train.best_by: which evaluation is the best one, and that a run ends with
// its weights.
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <csignal>
#include <map>
#include <sstream>

namespace zygos::test::test_restore_best {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using Words = std::vector<std::string>;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// So high a rate that the loss of the test set comes and goes.
const Words restless{"optimizer={type: adam, learning_rate: 0.08}",
                     "train.epochs=30",
                     "train.evaluate_every=9 steps",
                     "checkpoint.every=20 steps",
                     "train.best_by=loss",
                     "train.restore_best=true"};

std::vector<nlohmann::json> lines_of(const fs::path& directory, const std::string& kind) {
  std::vector<nlohmann::json> found;
  std::istringstream text(read_text(directory / "runs/tiny/metrics.jsonl"));
  for (std::string line; std::getline(text, line);) {
    if (auto object = nlohmann::json::parse(line); object["kind"] == kind) {
      found.push_back(std::move(object));
    }
  }
  return found;
}

double merit_of(const fs::path& checkpoint) {
  const auto manifest = nlohmann::json::parse(read_text(checkpoint / "manifest.json"));
  return std::stod(manifest["facts"]["merit"].get<std::string>());
}

/// y = x^2 with a little noise, 40 samples to train and 20 to test.
void write_numbers(const fs::path& directory) {
  const auto table = [](int first, int count) {
    std::string text = "x,y\n";
    for (int i = first; i < first + count; ++i) {
      const double x = 37 * i % 100 / 50.0 - 1.0;
      text += std::to_string(x) + "," + std::to_string(x * x + 0.01 * (i % 7)) + "\n";
    }
    return text;
  };
  write_text(directory / "train.csv", table(0, 40));
  write_text(directory / "test.csv", table(40, 20));
  write_text(directory / "tiny.yaml", R"(deck_version: 1
data: {format: csv, train: {file: train.csv}, test: {file: test.csv}, targets: [y]}
model:
  layers: [{type: dense, units: 16, activation: tanh}, {type: dense, units: 1}]
  loss: mse
optimizer: {type: adam, learning_rate: 0.05}
lanes: {host: {kind: host}}
policy: single
train: {epochs: 12, batch: 8}
checkpoint: {keep: 100, keep_best: 1}
)");
}

}  // namespace

TEST_CASE("a run ends with the weights of its best evaluation") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const auto said = train_unmeasured(scratch.path(), restless);

  const auto tests = lines_of(scratch.path(), "test");
  const auto best = *std::ranges::min_element(
      tests, {}, [](const nlohmann::json& line) { return line["test_loss"].get<double>(); });
  REQUIRE(best["step"] < said["steps"]);
  CHECK(said["restored_step"] == best["step"]);
  CHECK(said["test_loss"] == best["test_loss"]);
  CHECK(tests.back()["restored_step"] == best["step"]);
  CHECK(tests.back()["test_loss"] == best["test_loss"]);
  CHECK(best["best"] == true);
  CHECK(tests[tests.size() - 2]["best"] == false);  // before the weights were restored
  CHECK(tests.back()["best"] == true);
  const auto evaluated = json_of({"eval", "runs/tiny", "--json"}, scratch.path());
  CHECK(evaluated["step"] == said["steps"]);
  CHECK(evaluated["test_loss"] == best["test_loss"]);
  // The same weights as those of a run that ends there.
  const Scratch shorter;
  write_tiny_deck(shorter.path());
  Words words = restless;
  std::ranges::replace(words, std::string("train.epochs=30"), "train.steps=" + best["step"].dump());
  const auto there = train_unmeasured(shorter.path(), words);
  CHECK(there["weights_xxh64"] == said["weights_xxh64"]);
  CHECK_FALSE(there.contains("restored_step"));
}

TEST_CASE("a killed or stopped run is resumed to the same best weights") {
  const Scratch undisturbed;
  write_tiny_deck(undisturbed.path());
  const Words longer = joined(restless, {"train.epochs=60"});
  const auto expected = train_unmeasured(undisturbed.path(), longer);
  REQUIRE(expected.contains("restored_step"));
  for (const int signal : {SIGKILL, SIGTERM}) {
    const Scratch scratch;
    write_tiny_deck(scratch.path());
    Process process(unmeasured_words(longer), scratch.path());
    REQUIRE(wait_for_checkpoints(scratch.path(), 3));
    process.send(signal);
    REQUIRE(process.wait().code != 0);

    const auto end = json_of({"resume", "runs/tiny", "--json"}, scratch.path());

    CAPTURE(signal);
    CHECK(end["weights_xxh64"] == expected["weights_xxh64"]);
    CHECK(end["restored_step"] == expected["restored_step"]);
    CHECK(end["test_loss"] == expected["test_loss"]);
  }
}

TEST_CASE("the best weights of a run that ends early are there at its end") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const auto said = train_unmeasured(scratch.path(), joined(restless, {"train.patience=4"}));

  REQUIRE(said["steps"] < 450);
  const auto tests = lines_of(scratch.path(), "test");
  REQUIRE(tests.size() >= 6);
  CHECK(said["restored_step"] == tests[tests.size() - 6]["step"]);
  CHECK(said["test_loss"] == tests[tests.size() - 6]["test_loss"]);
  // Prolonged, it goes on from them.
  const auto more =
      json_of({"resume", "runs/tiny", "train.patience=100", "--json"}, scratch.path());
  CHECK(more["steps"] == 450);
}

TEST_CASE("checkpoints are ranked by any metric, in its own direction") {
  for (const auto& [figure, sign] :
       std::map<std::string, double>{{"mae", -1.0}, {"rmse", -1.0}, {"r2", 1.0}, {"loss", -1.0}}) {
    const Scratch scratch;
    write_numbers(scratch.path());

    const auto said = train_unmeasured(scratch.path(), {"train.best_by=" + figure});

    CAPTURE(figure);
    const auto tests = lines_of(scratch.path(), "test");
    REQUIRE(tests.size() > 5);
    CHECK(merit_of(newest_checkpoint_in(scratch.path())) ==
          sign * tests.back()["test_" + figure].get<double>());
    CHECK(said["test_" + figure] == tests.back()["test_" + figure]);
    const auto best = json_of({"inspect", "runs/tiny", "--best", "--json"}, scratch.path());
    const auto largest = std::ranges::max(tests, {}, [&](const nlohmann::json& line) {
      return sign * line["test_" + figure].get<double>();
    });
    CHECK(best["step"] == largest["step"]);
  }
}

TEST_CASE("the best evaluation takes evaluations, of a figure that the data have") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const auto refused = [&](const Words& words) {
    const Outcome outcome = zygos_run(unmeasured_words(words), scratch.path());
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK_THAT(refused({"train.restore_best=true", "data.test_samples=0"}),
             ContainsSubstring("no data to evaluate on") && ContainsSubstring("data.validation"));
  CHECK_THAT(refused({"train.restore_best=true", "train.evaluate_every=never"}),
             ContainsSubstring("evaluate_every is never"));
  CHECK_THAT(refused({"train.best_by=mae"}), ContainsSubstring("'mae' is a metric of numbers"));
  CHECK_THAT(refused({"train.best_by=f1"}), ContainsSubstring("macro_f1"));
  write_numbers(scratch.path());
  CHECK_THAT(refused({"train.best_by=top5"}), ContainsSubstring("'top5' is a metric of labels"));
  train_unmeasured(scratch.path(), {"train.epochs=1"});
  const Outcome other =
      zygos_run({"resume", "runs/tiny", "train.epochs=2", "train.best_by=mae"}, scratch.path());
  CHECK(other.code == 4);
  CHECK_THAT(other.err, ContainsSubstring("train.best_by: score -> mae"));
}

}  // namespace zygos::test::test_restore_best
