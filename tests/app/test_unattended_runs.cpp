// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs whose terminal, console or time goes away.
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <csignal>
#include <sstream>

namespace zygos::test::test_unattended_runs {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> endless{"train.epochs=100000", "checkpoint.every=1000000 steps"};

/// Runs a line of the shell in which $ZYGOS is the program.
Outcome shell(const std::string& line, const fs::path& directory) {
  return Process({"-c", "ZYGOS='" + executable() + "'; " + line}, directory, "sh").wait();
}

}  // namespace

TEST_CASE("a terminal that is closed and a limit of processor time save and stop a run") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const int signal = GENERATE(SIGHUP, SIGXCPU);
  CAPTURE(signal);
  Process process(unmeasured_words(endless), scratch.path());
  REQUIRE(wait_for_checkpoints(scratch.path(), 1));

  process.send(signal);

  CHECK(process.wait().code == 75);
  CHECK(checkpoints_in(scratch.path()) == 2);
  CHECK(summary_in(scratch.path())["finished"] == false);
}

TEST_CASE("under nohup a closed terminal means nothing") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  std::vector<std::string> words{executable()};
  for (const std::string& word : unmeasured_words(endless)) {
    words.push_back(word);
  }
  Process process(words, scratch.path(), "nohup");
  REQUIRE(wait_for_checkpoints(scratch.path(), 1));

  process.send(SIGHUP);
  process.send(SIGUSR1);

  CHECK(wait_for_checkpoints(scratch.path(), 2));
  CHECK(process.running());
  process.send(SIGTERM);
  CHECK(process.wait().code == 75);
}

TEST_CASE("a reader of the console that goes away does not end a run") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const std::string target = GENERATE("2>&1 | head -n 1", "| true", "> /dev/full 2>&1");
  CAPTURE(target);

  const Outcome outcome =
      shell("\"$ZYGOS\" train tiny.yaml train.epochs=40 " + target, scratch.path());

  CAPTURE(outcome.err);
  REQUIRE(fs::exists(scratch.path() / "runs/tiny/summary.json"));
  CHECK(summary_in(scratch.path())["finished"] == true);
}

TEST_CASE("no file of a run gets the console's text where the streams are closed") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const Outcome outcome =
      shell("\"$ZYGOS\" train tiny.yaml <&- >&- 2>&-; echo ended with $?", scratch.path());

  CHECK(outcome.out == "ended with 0\n");
  CHECK(read_text(scratch.path() / "runs/tiny/.lock").empty());
  std::istringstream lines(read_text(scratch.path() / "runs/tiny/metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(nlohmann::json::parse(line, nullptr, false).is_object());
  }
}

}  // namespace zygos::test::test_unattended_runs
