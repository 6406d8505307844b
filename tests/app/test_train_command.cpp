// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace zygos::test::test_train_command {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a tiny deck is learnt on two lanes and leaves everything it promises") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());

  const nlohmann::json said = train_to_the_end(scratch.path());

  const fs::path run = scratch.path() / "runs" / "tiny";
  const nlohmann::json summary = summary_in(scratch.path());
  CHECK(summary["finished"] == true);
  CHECK(summary["steps"] == 120);
  CHECK(summary["test_accuracy"] > 0.7);
  CHECK(summary["loss"] < 1.0);
  CHECK(summary["weights_xxh64"].get<std::string>().size() == 16);
  CHECK(summary["samples"]["host"] == 12);
  CHECK(summary["samples"]["device"] == 20);
  CHECK(summary["samples_per_s"]["total"] > 0.0);
  CHECK(summary["samples_per_s"]["lanes"]["device"] > 0.0);
  CHECK(summary["gain"]["predicted"] > 0.0);
  CHECK(summary["gain"]["measured"] > 0.0);
  CHECK(summary["peak_bytes"]["host"]["weights"] > 0);
  CHECK(summary["peak_bytes"]["device"]["total"] > 0);
  CHECK(said["weights_xxh64"] == summary["weights_xxh64"]);
  CHECK(fs::exists(run / "deck.yaml"));
  CHECK(checkpoints_in(scratch.path()) >= 1);
  const nlohmann::json trace = nlohmann::json::parse(read_text(run / "trace.json"));
  CHECK_FALSE(trace.empty());
}

TEST_CASE("others cannot read a trace, and one that is being read stays as it was") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const fs::path trace = scratch.path() / "runs/tiny/trace.json";
  const fs::path held = scratch.path() / "held.json";  // the same file, as an open reader has it
  const mode_t before = ::umask(022);
  train_unmeasured(scratch.path(), {"train.epochs=1"});
  fs::create_hard_link(trace, held);
  const std::string text = read_text(trace);

  const Outcome resumed =
      zygos_run({"resume", "runs/tiny", "train.epochs=2", "--unmeasured"}, scratch.path());
  ::umask(before);

  CAPTURE(resumed.err);
  REQUIRE(resumed.code == 0);
  for (const fs::path& file : {held, trace}) {
    CHECK(fs::status(file).permissions() ==
          (fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read));
  }
  CHECK_FALSE(fs::equivalent(held, trace));
  CHECK(read_text(held) == text);
  CHECK(read_text(trace) != text);
}

TEST_CASE("masks are learnt on two lanes and scored by Dice") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  train_to_the_end(
      scratch.path(),
      {"data={format: synthetic, function: blobs, size: 16, samples: 320, test_samples: 64}",
       "model={layers: [{type: conv2d, filters: 8, kernel: 3, padding: 1, activation: relu}, "
       "{type: max_pool2d, kernel: 2}, {type: upsample, factor: 2}, "
       "{type: conv2d, filters: 1, kernel: 3, padding: 1, activation: sigmoid}, "
       "{type: reshape, shape: [16, -1]}], loss: dice}",
       "optimizer={type: adam, learning_rate: 0.01}"});

  const nlohmann::json summary = summary_in(scratch.path());
  CHECK(summary["test_dice"] > 0.5);
  CHECK(summary["test_dice"] <= 1.0);
  CHECK_FALSE(summary.contains("test_accuracy"));
  CHECK(json_of({"eval", "runs/tiny", "--json"}, scratch.path())["test_dice"] ==
        summary["test_dice"]);
}

TEST_CASE("metrics are one JSON object a line, those of a kind with steps in order") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());
  train_to_the_end(scratch.path());

  std::istringstream lines(read_text(scratch.path() / "runs/tiny/metrics.jsonl"));
  // A checkpoint is reported when it is committed, which may be some steps later.
  std::map<std::string, std::vector<std::int64_t>> steps;
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json object = nlohmann::json::parse(line);
    steps[object["kind"]].push_back(object["step"]);
  }
  CHECK(steps.size() > 1);
  for (const auto& [kind, of_kind] : steps) {
    CAPTURE(kind);
    CHECK(std::ranges::is_sorted(of_kind));
    CHECK(of_kind.back() == 120);
  }
  CHECK(steps["train"].size() >= 2);
}

TEST_CASE("without --json people read the split, the prediction and the gain") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const Outcome outcome = zygos_run({"train", "tiny.yaml"}, scratch.path());

  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, ContainsSubstring("host 12 + device 20 of 32 samples"));
  CHECK_THAT(outcome.out, ContainsSubstring("predicted"));
  CHECK_THAT(outcome.out, ContainsSubstring("measured"));
  CHECK_THAT(outcome.out, ContainsSubstring("samples/s (host "));
  CHECK_THAT(outcome.out, ContainsSubstring("test accuracy"));
  CHECK(outcome.out.find('\r') == std::string::npos);
  CHECK(outcome.out.find('\033') == std::string::npos);
  CHECK(outcome.err.empty());
}

TEST_CASE("with -q only results and problems are said") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());

  const Outcome outcome = zygos_run({"train", "tiny.yaml", "-q"}, scratch.path());

  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, !ContainsSubstring("samples/s ("));
}

TEST_CASE("a run's folder can be anywhere") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());

  train_to_the_end(scratch.path(), {"--run-dir", "some/where"});

  CHECK(fs::exists(scratch.path() / "some/where/summary.json"));
  CHECK_FALSE(fs::exists(scratch.path() / "runs"));
}

TEST_CASE("steps that the norm of the gradient has undone are counted, and change no bit") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const auto trained = [&](const std::string& speculate) {
    return train_to_the_end(
        scratch.path(),
        {"optimizer.clip_norm=0.5", "--run-dir", speculate,
         "policy={type: zero_offload, owner: host, bucket: 1 kB, speculate: " + speculate + "}"});
  };
  const nlohmann::json speculated = trained("on");
  const nlohmann::json waited = trained("off");

  CHECK(speculated["weights_xxh64"] == waited["weights_xxh64"]);
  CHECK(speculated["redone_steps"] > 0);
  CHECK(speculated["redone_steps"] < speculated["steps"]);
  CHECK_FALSE(waited.contains("redone_steps"));
  CHECK(speculated["planned_bytes"]["host"]["stash"] > 0);
}

TEST_CASE("an automatic share is chosen once and written down") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());

  const nlohmann::json summary = train_to_the_end(scratch.path(), {"policy.share=auto"});

  const std::int64_t host = summary["samples"]["host"];
  const std::int64_t device = summary["samples"]["device"];
  CHECK(host + device == 32);
  CHECK(summary["gain"]["reason"].get<std::string>().size() > 20);
}

}  // namespace zygos::test::test_train_command
