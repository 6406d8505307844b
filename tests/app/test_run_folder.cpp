// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/metrics_log.hpp"
#include "app/run/resume_rules.hpp"
#include "app/run/run_folder.hpp"
#include "process.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

namespace zygos::app::test_run_folder {

namespace fs = std::filesystem;
using test::read_text;
using test::Scratch;
using test::write_text;

TEST_CASE("a default of micro_batches that decks have no longer written out is no change") {
  const auto left_out = [](const char* key, const char* before, const char* policy) {
    return was_written_out({key, before, "(absent)"}, policy);
  };

  CHECK(left_out("policy.micro_batches", "8", "gpipe"));
  CHECK(left_out("policy.micro_batches", "4", "hippie"));
  CHECK(left_out("policy.micro_batches", "1", "single"));
  CHECK(left_out("policy.pipeline.micro_batches", "8", "coarse_split"));
  CHECK_FALSE(left_out("policy.micro_batches", "4", "gpipe"));
  CHECK_FALSE(left_out("policy.cuts", "8", "gpipe"));
  CHECK_FALSE(was_written_out({"policy.micro_batches", "8", "4"}, "gpipe"));
}

TEST_CASE("a run folder is locked against a second run") {
  const Scratch scratch;
  const RunFolder folder(scratch.path() / "run");

  CHECK_THROWS_AS(RunFolder(scratch.path() / "run"), UsageError);
}

TEST_CASE("the lock of a run folder goes with its owner") {
  const Scratch scratch;
  { const RunFolder folder(scratch.path() / "run"); }

  CHECK_NOTHROW(RunFolder(scratch.path() / "run"));
}

TEST_CASE("a folder set aside keeps its files under the next free name") {
  const Scratch scratch;
  fs::create_directories(scratch.path() / "run.1");
  RunFolder folder(scratch.path() / "run");
  write_text(folder.deck(), "old");

  const fs::path other = folder.set_aside();

  CHECK(other == scratch.path() / "run.2");
  CHECK(read_text(other / "deck.yaml") == "old");
  CHECK_FALSE(folder.used());
  CHECK_THROWS_AS(RunFolder(scratch.path() / "run"), UsageError);
  CHECK_NOTHROW(RunFolder(other));
}

TEST_CASE("a folder named with a slash at its end is set aside beside itself") {
  const Scratch scratch;
  RunFolder folder(fs::path((scratch.path() / "run").string() + "/"));

  CHECK(folder.set_aside() == scratch.path() / "run.1");
}

TEST_CASE("a run is finished only if its summary says so") {
  const Scratch scratch;
  const RunFolder folder(scratch.path() / "run");
  CHECK_FALSE(folder.finished());

  write_text(folder.summary(), R"({"finished": false})");
  CHECK_FALSE(folder.finished());
  write_text(folder.summary(), R"({"finished": tru)");
  CHECK_FALSE(folder.finished());
  write_text(folder.summary(), R"({"finished": "yes"})");
  CHECK_FALSE(folder.finished());
  write_text(folder.summary(), R"({"finished": true})");
  CHECK(folder.finished());
}

TEST_CASE("a run folder that can't be made is an I/O failure") {
  const Scratch scratch;
  write_text(scratch.path() / "file", "");

  CHECK_THROWS_AS(RunFolder(scratch.path() / "file" / "run"), IoError);
}

TEST_CASE("metrics of steps that are trained again are dropped") {
  const Scratch scratch;
  const fs::path file = scratch.path() / "metrics.jsonl";
  write_text(file, "{\"step\":1}\n{\"step\":2}\n{\"step\":3}\n{\"st");

  MetricsLog metrics(file, 2, {});
  metrics.write({{"step", 3}, {"again", true}});

  CHECK(read_text(file) == "{\"step\":1}\n{\"step\":2}\n{\"again\":true,\"step\":3}\n");
}

TEST_CASE("metrics that can't be written cost one warning and nothing else") {
  std::vector<std::string> lines;
  const LogSink sink = [&](LogLevel level, std::string_view line) {
    CHECK(level == LogLevel::warning);
    lines.emplace_back(line);
  };

  MetricsLog metrics("/nonexistent/metrics.jsonl", 0, sink);
  metrics.write({{"step", 1}});
  metrics.write({{"step", 2}});

  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("/nonexistent/metrics.jsonl") != std::string::npos);
}

}  // namespace zygos::app::test_run_folder
