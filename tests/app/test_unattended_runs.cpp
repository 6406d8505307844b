// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs whose terminal, console or time goes away.
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <chrono>
#include <csignal>
#include <sstream>

namespace zygos::test::test_unattended_runs {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;

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

TEST_CASE("a stop ends what is measured before a run, and what is measured after it") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const std::vector<std::string> words{"train", "tiny.yaml", "--verbose", "train.epochs=1"};
  Process profiled(words, scratch.path());
  REQUIRE(profiled.says("measured lane 'host' alone"));

  profiled.send(SIGTERM);
  const Outcome early = profiled.wait();

  CAPTURE(early.out, early.err);
  CHECK(early.code == 75);
  CHECK_THAT(early.err, ContainsSubstring("stopped on request while lanes or policies were") &&
                            ContainsSubstring("the same command goes on"));
  CHECK_THAT(early.out + early.err, !ContainsSubstring("measured the links between lanes"));
  CHECK(checkpoints_in(scratch.path()) == 0);

  Process again(words, scratch.path());
  REQUIRE(again.says("measuring step and gain"));
  again.send(SIGTERM);
  const Outcome late = again.wait();

  CAPTURE(late.out, late.err);
  CHECK(late.code == 0);  // all that was asked for is trained and saved
  const nlohmann::json summary = summary_in(scratch.path());
  CHECK(summary["finished"] == true);
  CHECK(summary["gain"]["predicted"] > 0.0);
  CHECK(summary["gain"]["measured"].is_null());
  CHECK(checkpoints_in(scratch.path()) == 2);  // of steps 0 and 15
  CHECK(fs::exists(scratch.path() / "runs/tiny/report.html"));
}

TEST_CASE("a second interrupt ends a run at once, with a line of its own") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  // A step takes longer than this test waits.
  Process process({"train", "tiny.yaml", "--unmeasured",
                   "lanes.device.link={bandwidth: 1 GB/s, latency: 60 s}"},
                  scratch.path());
  REQUIRE(process.says("placement "));

  process.send(SIGINT);
  REQUIRE(process.says("Ctrl-C again ends at once"));
  CHECK(process.running());
  process.send(SIGINT);
  const Outcome outcome = process.wait(std::chrono::seconds(30));

  CHECK(outcome.code == 130);
  CHECK_THAT(outcome.err,
             EndsWith("\nended at once: what came after the last checkpoint is lost\n"));
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
  keep_tiny_profile(scratch.path());
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
