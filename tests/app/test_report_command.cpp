// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::test::test_report_command {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

TEST_CASE("train leaves a report, and report writes it again and says where") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());
  train_to_the_end(scratch.path());
  const fs::path file = scratch.path() / "runs/tiny/report.html";
  const std::string of_train = read_text(file);
  fs::remove(file);

  const Outcome people = zygos_run({"report", "runs/tiny"}, scratch.path());
  const std::string of_report = read_text(file);
  const Outcome machine =
      zygos_run({"report", "runs/tiny", "--output", "other.html", "--json"}, scratch.path());

  CHECK_THAT(of_train, StartsWith("<!doctype html>"));
  CHECK(of_train == of_report);
  CHECK(of_train.size() < 1000000);
  CHECK(people.code == 0);
  CHECK(people.out == "runs/tiny/report.html\n");
  CHECK(people.err.empty());
  CHECK(nlohmann::json::parse(machine.out) == nlohmann::json{{"report", "other.html"}});
  CHECK(read_text(scratch.path() / "other.html") == of_report);
}

TEST_CASE("report warns of what a run's folder lacks and writes the rest") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());
  train_to_the_end(scratch.path());
  fs::remove(scratch.path() / "runs/tiny/summary.json");
  write_text(scratch.path() / "runs/tiny/trace.json", "{\"traceEvents\": [");

  const Outcome outcome = zygos_run({"report", "runs/tiny"}, scratch.path());

  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.err, ContainsSubstring("summary.json does not exist"));
  CHECK_THAT(outcome.err, ContainsSubstring("trace.json is damaged"));
  CHECK_THAT(read_text(scratch.path() / "runs/tiny/report.html"),
             ContainsSubstring("trace.json is damaged"));
}

TEST_CASE("report puts other runs beside a run, and names the one whose files lack") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  for (const std::string run : {"one", "two"}) {
    json_of(unmeasured_words({"--run-dir", run, "train.epochs=2"}), scratch.path());
  }
  fs::remove(scratch.path() / "two/summary.json");

  const Outcome outcome =
      zygos_run({"report", "one", "--beside", "two", "--beside", "one"}, scratch.path());
  const Outcome refused = zygos_run({"report", "one", "--beside", "none"}, scratch.path());

  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.err, ContainsSubstring("two: summary.json does not exist"));
  CHECK_THAT(read_text(scratch.path() / "one/report.html"), ContainsSubstring("\"name\":\"two\""));
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, ContainsSubstring("none is not the directory of a run"));
}

TEST_CASE("report refuses a folder that is none of a run") {
  const Scratch scratch;

  const Outcome outcome = zygos_run({"report", "."}, scratch.path());

  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, ContainsSubstring("is not the directory of a run"));
  CHECK_FALSE(fs::exists(scratch.path() / "report.html"));
}

TEST_CASE("report says why it cannot write a file, and exits with 5") {
  const Scratch scratch;
  write_text(scratch.path() / "deck.yaml", "deck_version: 1\n");

  const Outcome outcome =
      zygos_run({"report", ".", "--output", "none/report.html"}, scratch.path());

  CHECK(outcome.code == 5);
  CHECK_THAT(outcome.err, ContainsSubstring("none/") && ContainsSubstring("No such file"));
}

TEST_CASE("a report that cannot be written does not change how a run ends") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  fs::create_directories(scratch.path() / "runs/tiny/report.html/occupied");

  const Outcome outcome = zygos_run(unmeasured_words(), scratch.path());

  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.err, ContainsSubstring("no report was written"));
  CHECK(summary_in(scratch.path())["finished"] == true);
}

}  // namespace zygos::test::test_report_command
