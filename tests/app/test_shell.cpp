// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The executable in a shell: what it prints where, completions, the manual page, starters.
#include "support/skip.hpp"
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <csignal>

namespace zygos::test::test_shell {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

Outcome in_shell(const std::string& command, const fs::path& directory) {
  Process process({"-c", command, executable()}, directory, "sh");
  return process.wait();
}

/// Whether a terminal would take anything in the text for a command.
bool steers(const std::string& text) {
  return text.find('\x1B') != std::string::npos || text.find("\xC2\x9B") != std::string::npos ||
         text.find("\xE2\x80\xAE") != std::string::npos;
}

}  // namespace

TEST_CASE("output that cannot be written ends with 5") {
  const Scratch scratch;

  for (const char* words : {"info", "info --json", "schema", "--help", "completion bash"}) {
    const Outcome outcome =
        in_shell(std::string("\"$0\" ") + words + " >/dev/full", scratch.path());
    CAPTURE(words, outcome.err);
    CHECK(outcome.code == 5);
    CHECK_THAT(outcome.err, ContainsSubstring("standard output"));
  }
}

TEST_CASE("nothing in a name or a deck steers the terminal") {
  const Scratch scratch;
  const std::string evil =
      "a\x1B[31m\xC2\x9B"
      "31m\xE2\x80\xAE"
      "b";
  write_text(scratch.path() / "evil.yaml",
             "deck_version: 1\n\"" + evil.substr(1) + "\": 1\ndata: \"" + evil.substr(6) + "\"\n");

  for (const std::vector<std::string>& words : {std::vector<std::string>{"check", "evil.yaml"},
                                                {"check", evil},
                                                {"inspect", evil},
                                                {"explain", evil},
                                                {evil},
                                                {"train", evil, "--" + evil},
                                                {"check", evil, "--json"}}) {
    const Outcome outcome = zygos_run(words, scratch.path());
    CAPTURE(words, outcome.out, outcome.err);
    CHECK(outcome.code == 2);
    CHECK_FALSE(steers(outcome.out));
    CHECK_FALSE(steers(outcome.err));
  }
}

TEST_CASE("completions are scripts that their shells read") {
  const Scratch scratch;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const Outcome outcome = zygos_run({"completion", shell}, scratch.path());
    CAPTURE(shell, outcome.err);
    REQUIRE(outcome.code == 0);
    for (const char* word : {"resume", "fresh", "RUN_DIR"}) {
      CHECK((word == std::string("RUN_DIR") || outcome.out.find(word) != std::string::npos));
    }
    write_text(scratch.path() / shell, outcome.out);
  }

  // In a bash without completion of its own, as a script has it.
  const Outcome completed = in_shell(
      "bash -c '. ./bash; COMP_WORDS=(zygos tr); COMP_CWORD=1; _zygos; echo \"${COMPREPLY[@]}\"; "
      "COMP_WORDS=(zygos train --fre); COMP_CWORD=2; _zygos; echo \"${COMPREPLY[@]}\"; "
      "COMP_WORDS=(zygos completion z); COMP_CWORD=2; _zygos; echo \"${COMPREPLY[@]}\"; "
      "COMP_WORDS=(zygos info --color n); COMP_CWORD=3; _zygos; echo \"${COMPREPLY[@]}\"'",
      scratch.path());

  CHECK(completed.err.empty());
  CHECK(completed.out == "train\n--fresh --fresh-profile\nzsh zsh\nnever\n");
}

TEST_CASE("zsh and fish complete commands and options by their scripts") {
  const Scratch scratch;
  const auto read_by = [&](const std::string& shell, const std::string& command) {
    write_text(scratch.path() / shell, zygos_run({"completion", shell}, scratch.path()).out);
    const Outcome outcome =
        in_shell("command -v " + shell + " >/dev/null || exit 77; export HOME=\"$PWD\"; " + command,
                 scratch.path());
    if (outcome.code == 77) {
      skip_without(shell, "there is no " + shell + " in PATH");
    }
    CAPTURE(shell, outcome.out, outcome.err);
    CHECK(outcome.code == 0);
    CHECK(outcome.err.empty());
    return outcome.out;
  };

  SECTION("zsh") {
    CHECK(read_by("zsh",
                  "zsh -n ./zsh && zsh -f -c 'autoload -Uz compinit && compinit -D -u && . ./zsh "
                  "&& print -r -- $_comps[zygos]'") == "_zygos\n");
  }
  SECTION("fish") {
    const std::string completed =
        read_by("fish",
                "fish -n ./fish && fish -N -c 'source ./fish; complete -C \"zygos tr\"; "
                "complete -C \"zygos train --fresh-\"; complete -C \"zygos completion z\"'");
    CHECK_THAT(completed, StartsWith("train\t") && ContainsSubstring("\n--fresh-profile\t") &&
                              ContainsSubstring("\nzsh"));
  }
}

TEST_CASE("the manual page names every command, the keys of a deck and the exit codes") {
  const Scratch scratch;
  const Outcome page = zygos_run({"man"}, scratch.path());

  REQUIRE(page.code == 0);
  CHECK_THAT(page.out, ContainsSubstring(".SH NAME\n") && ContainsSubstring(".SS zygos train\n") &&
                           ContainsSubstring("\\-\\-fresh") && ContainsSubstring("optimizer") &&
                           ContainsSubstring("self\\-check failed"));
}

TEST_CASE("a deck may come from standard input") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const Outcome good = in_shell("\"$0\" check - <tiny.yaml", scratch.path());
  const Outcome bad = in_shell("echo 'deck_version: 7' | \"$0\" check -", scratch.path());

  CHECK(good.code == 0);
  CHECK(bad.code == 2);
  CHECK_THAT(bad.err, ContainsSubstring("stdin:1:15: error"));
}

TEST_CASE("init writes a deck of every kind, and each is good") {
  const Scratch scratch;
  for (const std::string kind : {"mlp", "regression", "images", "text", "graph"}) {
    CAPTURE(kind);
    REQUIRE(zygos_run({"init", kind, kind}, scratch.path()).code == 0);
    const Outcome checked = zygos_run({"check", kind + ".yaml"}, scratch.path());
    CAPTURE(checked.err);
    CHECK(checked.code == 0);
    CHECK_THAT(read_text(scratch.path() / (kind + ".yaml")),
               ContainsSubstring("# yaml-language-server: $schema=") &&
                   ContainsSubstring("zygos train " + kind + ".yaml"));
  }

  for (const auto& [kind, file] : {std::pair{"hdf5", "train.h5"}, std::pair{"csv", "own.csv"}}) {
    CAPTURE(kind);
    fs::remove(scratch.path() / "own.yaml");
    REQUIRE(zygos_run({"init", "own", kind}, scratch.path()).code == 0);
    const Outcome own = zygos_run({"check", "own.yaml"}, scratch.path());
    CHECK(own.code == 2);
    CHECK_THAT(own.err, ContainsSubstring(std::string("there is no file '") + file + "'"));
  }
}

TEST_CASE("the deck of init csv learns the table that it is named after, numbers and classes") {
  const Scratch scratch;
  std::string numbers = "a,b,sum\n";
  std::string classes = "a,b,which\n";
  for (int i = 0; i < 120; ++i) {
    const int a = i % 11;
    const int b = 1000 * (i % 7);
    const int sum = 500 * a + b;
    const std::string inputs = std::to_string(a) + "," + std::to_string(b) + ",";
    numbers += inputs + std::to_string(sum) + "\n";
    classes += inputs + (sum < 5500 ? "low\n" : "high\n");
  }
  write_text(scratch.path() / "own.csv", numbers);
  REQUIRE(zygos_run({"init", "own", "csv"}, scratch.path()).code == 0);

  const auto trained =
      json_of({"train", "own.yaml", "optimizer.learning_rate=0.01", "--json"}, scratch.path());

  CHECK(trained["test_loss"] < 0.01);  // of a sum with variance 1
  write_text(scratch.path() / "sorted.csv", classes);
  REQUIRE(zygos_run({"init", "sorted", "csv"}, scratch.path()).code == 0);
  const auto sorted =
      json_of({"train", "sorted.yaml", "optimizer.learning_rate=0.01", "--json"}, scratch.path());
  CHECK(sorted["test_accuracy"] > 0.8);
}

TEST_CASE("a key that excludes another replaces it on the command line") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  CHECK(train_unmeasured(scratch.path(), {"train.steps=3"})["steps"] == 3);
  CHECK(zygos_run({"check", "tiny.yaml", "train.steps=3", "train.epochs=2"}, scratch.path()).code ==
        2);
}

TEST_CASE("threads without a host lane are answered with what to write instead") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const Outcome outcome = zygos_run(
      {"check", "tiny.yaml", "lanes={dev: {kind: emulated}}", "policy=single", "--threads", "1"},
      scratch.path());

  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, ContainsSubstring("lanes.dev.threads=N"));
}

TEST_CASE("a finished run has nothing left to do, and nothing of it is overwritten") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());
  train_to_the_end(scratch.path(), {"train.epochs=2"});
  const fs::path run = scratch.path() / "runs/tiny";
  const std::string summary = read_text(run / "summary.json");
  const std::string report = read_text(run / "report.html");

  for (const std::string further : {"train.epochs=2", "train.epochs=1"}) {
    const Outcome outcome = zygos_run({"resume", "runs/tiny", further}, scratch.path());
    CAPTURE(outcome.out, outcome.err);
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out, ContainsSubstring("nothing left to do"));
    CHECK(read_text(run / "summary.json") == summary);
    CHECK(read_text(run / "report.html") == report);
  }
  CHECK(json_of({"resume", "runs/tiny", "--json"}, scratch.path())["loss"] ==
        nlohmann::json::parse(summary)["loss"]);
}

TEST_CASE("an interrupt says what it does, and a stopped run how to go on") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());
  Process process({"train", "tiny.yaml", "train.epochs=100000"}, scratch.path());
  REQUIRE(wait_for_checkpoints(scratch.path(), 2));

  process.send(SIGINT);
  const Outcome outcome = process.wait();

  CHECK(outcome.code == 75);
  CHECK_THAT(outcome.err, ContainsSubstring("finishing the step, saving"));
  CHECK_THAT(outcome.out, ContainsSubstring("zygos resume runs/tiny"));
}

TEST_CASE("lines that are not of a run are left out of its metrics with a warning") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());
  train_to_the_end(scratch.path(), {"train.epochs=2"});
  const fs::path metrics = scratch.path() / "runs/tiny/metrics.jsonl";
  write_text(metrics, read_text(metrics) + "{\"step\": \"7\"}\n[1]\nnonsense\n");

  const Outcome outcome = zygos_run({"resume", "runs/tiny", "train.epochs=3"}, scratch.path());

  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.err, ContainsSubstring("3 lines that are not of a run"));
  CHECK(read_text(metrics).find("nonsense") == std::string::npos);
}

TEST_CASE("JSON that is nested without end is damage in a report") {
  const Scratch scratch;
  const fs::path run = scratch.path() / "run";
  fs::create_directory(run);
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  write_text(run / "summary.json", "{\"a\": " + deep + "}");
  write_text(run / "trace.json", "{\"traceEvents\": " + deep + "}");
  write_text(run / "metrics.jsonl", "{\"kind\": \"train\", \"a\": " + deep + "}\n");

  const Outcome outcome = zygos_run({"report", "run"}, scratch.path());

  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.err, ContainsSubstring("summary.json is damaged") &&
                              ContainsSubstring("trace.json is damaged") &&
                              ContainsSubstring("1 of 1 lines are damaged"));
}

}  // namespace zygos::test::test_shell
