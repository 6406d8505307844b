// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Sweeps of the executable: a process for every run.
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <thread>

namespace zygos::test::test_sweep {

using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> sweep_words(const std::vector<std::string>& further) {
  std::vector<std::string> words{"sweep", "tiny.yaml", "--json", "--unmeasured"};
  words.insert(words.end(), further.begin(), further.end());
  return words;
}

fs::path sweep_folder(const Scratch& scratch) { return scratch.path() / "runs/tiny_sweep"; }

}  // namespace

TEST_CASE("A sweep trains every combination in a folder of its own") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const nlohmann::json result =
      json_of(sweep_words({"model.layers.fc1.units=4,24", "optimizer.learning_rate=1e-3,1e-2",
                           "train.epochs=2"}),
              scratch.path());

  REQUIRE(result["runs"].size() == 4);
  CHECK(result["done"] == 4);
  CHECK(result["runs"][3]["values"] ==
        nlohmann::json({{"model.layers.fc1.units", "24"}, {"optimizer.learning_rate", "1e-2"}}));
  for (const auto& run : result["runs"]) {
    CHECK(run["state"] == "done");
    CHECK(run["reused"] == false);
    const fs::path folder = scratch.path() / run["run_dir"].get<std::string>();
    const auto summary = nlohmann::json::parse(read_text(folder / "summary.json"));
    CHECK(summary["finished"] == true);
    CHECK(summary["test_accuracy"] == run["test_accuracy"]);
  }
  CHECK(result["best_by"] == "test_accuracy");
  CHECK(nlohmann::json::parse(read_text(sweep_folder(scratch) / "sweep.json"))["done"] == 4);
  CHECK_THAT(read_text(sweep_folder(scratch) / "units=4_learning_rate=1e-3/deck.yaml"),
             ContainsSubstring("units: 4  # command line"));
}

TEST_CASE("A run of a sweep has the bits of the same training alone") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const nlohmann::json result =
      json_of(sweep_words({"train.epochs=2", "--seeds", "2"}), scratch.path());
  const nlohmann::json alone = train_unmeasured(scratch.path(), {"train.epochs=2", "seed=6"});

  CHECK(result["runs"][0]["seed"] == 5);  // the deck's own
  CHECK(result["runs"][1]["seed"] == 6);
  const fs::path folder = scratch.path() / result["runs"][1]["run_dir"].get<std::string>();
  CHECK(nlohmann::json::parse(read_text(folder / "summary.json"))["weights_xxh64"] ==
        alone["weights_xxh64"]);
  CHECK(result["settings"][0]["test_loss"]["runs"] == 2);
  CHECK(result["settings"][0]["test_loss"]["deviation"] > 0.0);
}

TEST_CASE("A sweep trains again what another deck has finished, and nothing else") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const auto reused = [&](const std::vector<std::string>& further) {
    std::vector<bool> flags;
    const nlohmann::json result = json_of(sweep_words(further), scratch.path());
    for (const auto& run : result["runs"]) {
      flags.push_back(run["reused"]);
    }
    return flags;
  };

  CHECK(reused({"train.batch=16,32", "train.epochs=1"}) == std::vector<bool>{false, false});
  CHECK(reused({"train.batch=16,32", "train.epochs=1"}) == std::vector<bool>{true, true});
  CHECK(reused({"train.batch=32,48", "train.epochs=1"}) == std::vector<bool>{true, false});
  CHECK(reused({"train.batch=16,32", "train.epochs=2"}) == std::vector<bool>{false, false});
  CHECK(fs::exists(sweep_folder(scratch) / "batch=16.1"));
}

TEST_CASE("A run that fails is told, the others go on, and its exit code is the sweep's") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const Outcome outcome = zygos_run(
      sweep_words({"optimizer.learning_rate=1e30,1e-2", "train.epochs=1"}), scratch.path());

  CHECK(outcome.code == 7);
  const nlohmann::json result = nlohmann::json::parse(outcome.out);
  CHECK(result["runs"][0]["state"] == "failed");
  CHECK(result["runs"][0]["exit_code"] == 7);
  CHECK_FALSE(result["runs"][0]["problem"].get<std::string>().empty());
  CHECK(result["runs"][1]["state"] == "done");
  CHECK_THAT(outcome.err, ContainsSubstring("[1/2] learning_rate=1e30: failed (exit code 7)"));
}

TEST_CASE("What can't be swept is refused before anything runs") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  CHECK(zygos_run(sweep_words({}), scratch.path()).code == 2);
  CHECK(zygos_run(sweep_words({"train.batch=16,none"}), scratch.path()).code == 2);
  CHECK(zygos_run(sweep_words({"train.bacth=16,32"}), scratch.path()).code == 2);
  CHECK(zygos_run({"sweep", "-", "train.batch=16,32"}, scratch.path()).code == 2);
  CHECK_FALSE(fs::exists(sweep_folder(scratch)));
}

TEST_CASE("A sweep that is stopped goes on where it was, with the same command") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const auto words = sweep_words({"train.batch=16,32", "train.epochs=400", "--runs-dir", "s"});
  Process process(words, scratch.path());
  for (int i = 0; i < 6000 && !fs::exists(scratch.path() / "s/batch=16/metrics.jsonl"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  process.send(SIGTERM);
  const Outcome stopped = process.wait();

  CAPTURE(stopped.err);
  CHECK(stopped.code == 75);
  const nlohmann::json before = nlohmann::json::parse(stopped.out);
  CHECK(before["runs"][0]["state"] == "stopped");
  CHECK(before["runs"][1]["state"] == "waiting");
  CHECK_FALSE(fs::exists(scratch.path() / "s/batch=32"));
  const std::int64_t steps =
      nlohmann::json::parse(read_text(scratch.path() / "s/batch=16/summary.json"))["steps"];
  const nlohmann::json after = json_of(words, scratch.path());
  CHECK(after["done"] == 2);
  CHECK_THAT(read_text(scratch.path() / "s/batch=16.log"),
             ContainsSubstring("at step " + (steps < 1000 ? std::to_string(steps) : "")));
}

TEST_CASE("Several runs at a time have the bits of one after the other") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const std::vector<std::string> deck{"train.batch=16,32,48", "train.epochs=1"};
  auto one = deck;
  one.insert(one.end(), {"--runs-dir", "one"});
  auto three = deck;
  three.insert(three.end(), {"--runs-dir", "three", "--jobs", "3"});

  const nlohmann::json a = json_of(sweep_words(one), scratch.path());
  const nlohmann::json b = json_of(sweep_words(three), scratch.path());

  for (std::size_t run = 0; run < 3; ++run) {
    CHECK(a["runs"][run]["test_loss"] == b["runs"][run]["test_loss"]);
  }
}

}  // namespace zygos::test::test_sweep
