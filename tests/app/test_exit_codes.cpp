// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Every exit code that docs/cli.md documents is reached by the real executable, except 1 (a bug)
// and those of parts that this build does not have (8, 9).
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::test::test_exit_codes {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

/// Runs with --json and requires one JSON object whose error has this code.
std::string error_of(const std::vector<std::string>& words, const fs::path& directory, int code) {
  const Outcome outcome = zygos_run(words, directory);
  CAPTURE(words, outcome.out, outcome.err);
  CHECK(outcome.code == code);
  const nlohmann::json object = nlohmann::json::parse(outcome.out, nullptr, false);
  REQUIRE(object.is_object());
  CHECK(object["error"]["code"] == code);
  return outcome.err;
}

}  // namespace

TEST_CASE("the executable answers --help of every command and --version with 0") {
  const Scratch scratch;
  const Outcome general = zygos_run({"--help"}, scratch.path());

  CHECK(general.code == 0);
  CHECK(zygos_run({"--version"}, scratch.path()).code == 0);
  for (const char* command : {"train", "resume", "eval", "check", "plan", "bench", "inspect",
                              "info", "schema", "explain", "init"}) {
    const Outcome outcome = zygos_run({command, "--help"}, scratch.path());
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out, ContainsSubstring("Exit codes:"));
    CHECK_THAT(general.out, ContainsSubstring(std::string("\n  ") + command + " "));
    CHECK(outcome.err.empty());
  }
}

TEST_CASE("a bad command line ends with 2") {
  const Scratch scratch;

  error_of({"trian", "--json"}, scratch.path(), 2);
  error_of({"train", "missing.yaml", "--json"}, scratch.path(), 2);
  error_of({"resume", "nowhere", "--json"}, scratch.path(), 2);
  error_of({"inspect", "nowhere", "--json"}, scratch.path(), 2);
  error_of({"explain", "optimizer.learning_rte", "--json"}, scratch.path(), 2);
  CHECK(zygos_run({}, scratch.path()).code == 2);
}

TEST_CASE("a bad deck ends with 2 and names file, line and column") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const std::string said =
      error_of({"check", "tiny.yaml", "optimizer.learning_rte=1", "--json"}, scratch.path(), 2);

  CHECK_THAT(said, ContainsSubstring("learning_rate"));
}

TEST_CASE("shapes that do not fit end with 2 at the layer's line") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  std::string deck = read_text(scratch.path() / "tiny.yaml");
  deck.replace(deck.find("units: 10"), 9, "units: 7 ");
  write_text(scratch.path() / "tiny.yaml", deck);

  const std::string said = error_of({"check", "tiny.yaml", "--json"}, scratch.path(), 2);

  CHECK_THAT(said, ContainsSubstring("tiny.yaml:") && ContainsSubstring("7"));
}

TEST_CASE("bad data ends with 3") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  write_text(scratch.path() / "images", "no IDX file");
  write_text(scratch.path() / "labels", "no IDX file");
  std::string deck = read_text(scratch.path() / "tiny.yaml");
  const std::string glyphs = "format: glyphs\n  samples: 480\n  test_samples: 160";
  deck.replace(deck.find(glyphs), glyphs.size(),
               "format: idx\n  train: {images: images, labels: labels}");
  write_text(scratch.path() / "tiny.yaml", deck);

  const std::string said = error_of({"check", "tiny.yaml", "--json"}, scratch.path(), 3);

  CHECK_THAT(said, ContainsSubstring("labels"));
}

TEST_CASE("a folder without checkpoints ends with 4") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  error_of({"eval", "tiny.yaml", "--json"}, scratch.path(), 4);
}

TEST_CASE("a folder that can't be made ends with 5") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  write_text(scratch.path() / "file", "");

  error_of({"train", "tiny.yaml", "--run-dir", "file/run", "--json"}, scratch.path(), 5);
}

TEST_CASE("a lane over its budget ends with 6 and says what takes the bytes") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const std::string said =
      error_of({"check", "tiny.yaml", "lanes.device.memory=20 KiB", "--json"}, scratch.path(), 6);

  CHECK_THAT(said, ContainsSubstring("device") && ContainsSubstring("weights"));
}

TEST_CASE("a loss that is no number ends with 7 and names the checkpoints from before") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const std::string said = error_of(
      {"train", "tiny.yaml", "optimizer.type=sgd", "optimizer.learning_rate=1e30", "--json"},
      scratch.path(), 7);

  CHECK_THAT(said, ContainsSubstring("checkpoint"));
}

TEST_CASE("a GPU lane in a build without one is a finding in the deck") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const Outcome outcome =
      zygos_run({"check", "tiny.yaml", "lanes.device.kind=device"}, scratch.path());

  if (outcome.code != 0) {
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, ContainsSubstring("ZYGOS_DEVICE"));
  }
}

}  // namespace zygos::test::test_exit_codes
