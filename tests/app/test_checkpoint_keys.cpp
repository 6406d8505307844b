// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a deck says of checkpoints: whether training goes on meanwhile, and which are kept.
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <csignal>
#include <map>
#include <set>

namespace zygos::test::test_checkpoint_keys {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

nlohmann::json manifest_of(const fs::path& checkpoint) {
  return nlohmann::json::parse(read_text(checkpoint / "manifest.json"));
}

/// Merit of every checkpoint, by step.
std::map<int, double> merits_in(const fs::path& directory) {
  std::map<int, double> merits;
  for (const auto& entry : fs::directory_iterator(directory / "runs/tiny/checkpoints")) {
    const nlohmann::json manifest = manifest_of(entry.path());
    merits[manifest["step"].get<int>()] = std::stod(manifest["facts"]["merit"].get<std::string>());
  }
  return merits;
}

}  // namespace

TEST_CASE("checkpoints in the background change no byte of a run and their time is told") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  std::string state;
  std::string weights;
  for (const std::string background : {"true", "false"}) {
    const nlohmann::json said =
        train_unmeasured(scratch.path(), {"checkpoint.every=7 steps", "checkpoint.keep=100",
                                          "checkpoint.background=" + background, "--fresh"});

    const nlohmann::json& costs = said["checkpoints"];
    CAPTURE(background, costs.dump());
    CHECK(costs["background"] == (background == "true"));
    CHECK(costs["committed"] == 1 + 120 / 7 + 1);
    CHECK(costs["committed"] == checkpoints_in(scratch.path()));
    CHECK(costs["stopped_s"] > 0.0);
    CHECK(costs["writing_s"] > 0.0);
    CHECK(costs["put_off"] == 0);
    CHECK(said["peak_bytes"]["checkpoint/staging"]["total"] == costs["bytes"]);
    const std::string bytes = read_text(newest_checkpoint_in(scratch.path()) / "state.h5");
    CHECK((state.empty() || bytes == state));
    CHECK((weights.empty() || said["weights_xxh64"] == weights));
    state = bytes;
    weights = said["weights_xxh64"];
  }
}

TEST_CASE(
    "a streamed checkpoint is that of a whole copy, byte for byte, and is continued as such") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  std::map<std::string, std::string> states;
  std::map<std::string, std::string> weights;
  for (const std::string copy : {"auto", "whole", "streamed"}) {
    const nlohmann::json said = train_unmeasured(
        scratch.path(),
        {"checkpoint.every=7 steps", "checkpoint.keep=100", "checkpoint.copy=" + copy, "--fresh"});

    const nlohmann::json& costs = said["checkpoints"];
    CAPTURE(copy, costs.dump());
    const bool streamed = copy == "streamed";  // a whole copy of so small a state fits
    CHECK(costs["copy"] == (streamed ? "streamed" : "whole"));
    CHECK(costs["background"] == !streamed);
    CHECK(costs["committed"] == 1 + 120 / 7 + 1);
    CHECK(costs["committed"] == checkpoints_in(scratch.path()));
    CHECK((!streamed || costs["stopped_s"] >= costs["writing_s"]));
    CHECK(said["peak_bytes"]["checkpoint/staging"]["total"] == costs["bytes"]);
    states[copy] = read_text(newest_checkpoint_in(scratch.path()) / "state.h5");
    weights[copy] = said["weights_xxh64"].get<std::string>();
  }
  CHECK_FALSE(states["whole"].empty());
  CHECK(states["streamed"] == states["whole"]);
  CHECK(states["auto"] == states["whole"]);
  CHECK(weights["streamed"] == weights["whole"]);

  // The way of writing may change when a run goes on.
  train_unmeasured(scratch.path(), {"train.epochs=4", "checkpoint.copy=whole", "--fresh"});
  const nlohmann::json resumed =
      json_of({"resume", "runs/tiny", "train.epochs=8", "checkpoint.copy=streamed", "--json"},
              scratch.path());
  CHECK(resumed["checkpoints"]["copy"] == "streamed");
  CHECK(resumed["weights_xxh64"] == weights["whole"]);
}

TEST_CASE("the best checkpoints stay, and are evaluated and inspected by name") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  train_unmeasured(scratch.path(),
                   {"checkpoint.every=10 steps", "checkpoint.keep=100", "checkpoint.keep_best=1"});
  const auto all = merits_in(scratch.path());
  REQUIRE(all.size() == 13);
  std::vector<std::pair<double, int>> ranking;
  for (const auto& [step, merit] : all) {
    ranking.emplace_back(merit, step);
  }
  std::ranges::sort(ranking, std::ranges::greater{});

  train_unmeasured(scratch.path(), {"checkpoint.every=10 steps", "checkpoint.keep=1",
                                    "checkpoint.keep_best=2", "--fresh"});

  std::set<int> expected{120, ranking[0].second, ranking[1].second};
  std::set<int> found;
  for (const auto& [step, merit] : merits_in(scratch.path())) {
    found.insert(step);
  }
  CHECK(found == expected);
  const auto inspected = json_of({"inspect", "runs/tiny", "--best", "--json"}, scratch.path());
  CHECK(inspected["step"] == ranking[0].second);
  const auto evaluated = json_of({"eval", "runs/tiny", "--best", "--json"}, scratch.path());
  CHECK(evaluated["step"] == ranking[0].second);
  CHECK(evaluated["test_accuracy"] == ranking[0].first);
}

TEST_CASE("there is no best checkpoint without an evaluation, and that is said") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const std::vector<std::string> no_test{"data.test_samples=0", "checkpoint.keep_best=2"};

  const Outcome refused = zygos_run({"train", "tiny.yaml", no_test[0], no_test[1]}, scratch.path());

  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, ContainsSubstring("2 best checkpoints"));
  CHECK_THAT(refused.err, ContainsSubstring("data.test"));
  train_unmeasured(scratch.path(), {"train.epochs=1", "train.evaluate_every=never"});
  const Outcome none =
      zygos_run({"inspect", "runs/tiny/checkpoints/step-000000", "--best"}, scratch.path());
  CHECK(none.code == 2);
  CHECK_THAT(none.err, ContainsSubstring("the best one is"));
}

TEST_CASE("SIGTERM waits for the checkpoint in flight and for that of its own step") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  Process process(unmeasured_words({"train.epochs=5000", "checkpoint.every=1 steps"}),
                  scratch.path());
  REQUIRE(wait_for_checkpoints(scratch.path(), 3));
  process.send(SIGTERM);

  CHECK(process.wait().code == 75);
  const nlohmann::json summary = summary_in(scratch.path());
  CHECK(manifest_of(newest_checkpoint_in(scratch.path()))["step"] == summary["steps"]);
  for (const auto& entry : fs::directory_iterator(scratch.path() / "runs/tiny/checkpoints")) {
    CHECK_THAT(entry.path().filename().string(), Catch::Matchers::StartsWith("step-"));
  }
}

}  // namespace zygos::test::test_checkpoint_keys
