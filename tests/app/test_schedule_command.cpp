// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <filesystem>

namespace zygos::test::test_schedule_command {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

const std::string two_micro_batches = "policy={type: gpipe, micro_batches: 2}";

}  // namespace

TEST_CASE("schedule prints a step of the deck's policy as text, or writes it") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const Outcome printed =
      zygos_run({"schedule", "tiny.yaml", two_micro_batches, "-q"}, scratch.path());
  const Outcome written = zygos_run(
      {"schedule", "tiny.yaml", two_micro_batches, "-q", "--output", "step.txt"}, scratch.path());

  CHECK(printed.code == 0);
  CHECK_THAT(printed.out, StartsWith("policy gpipe, batch "));
  CHECK(written.code == 0);
  CHECK(read_text(scratch.path() / "step.txt") == printed.out);
}

TEST_CASE("schedule draws a step, with unit times or as predicted from a profile") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const Outcome drawn = zygos_run(
      {"schedule", "tiny.yaml", two_micro_batches, "--output", "step.svg"}, scratch.path());
  CHECK(drawn.code == 0);
  CHECK_FALSE(std::filesystem::exists(scratch.path() / "cache/zygos/profiles"));
  const Outcome measured =
      zygos_run({"schedule", "tiny.yaml", two_micro_batches, "--measured", "--output", "ms.svg"},
                scratch.path());
  CHECK(measured.code == 0);

  CHECK_THAT(read_text(scratch.path() / "step.svg"), StartsWith("<svg ") &&
                                                         ContainsSubstring("</svg>") &&
                                                         ContainsSubstring("time; 1: a stage's"));
  CHECK_THAT(read_text(scratch.path() / "ms.svg"), ContainsSubstring("predicted from a profile"));
}

TEST_CASE("schedule tells tasks, times and messages as JSON") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const nlohmann::json step =
      json_of({"schedule", "tiny.yaml", two_micro_batches, "--json"}, scratch.path());

  CHECK(step["policy"] == "gpipe");
  CHECK(step["time_unit"] == "forward pass");
  // One cut, two micro-batches, there and back.
  CHECK(step["messages"].size() == 4);
  double end = 0.0;
  for (const auto& task : step["tasks"]) {
    CHECK(task["start"] < task["end"]);
    end = std::max(end, task["end"].get<double>());
  }
  CHECK(step["makespan"] == end);
}

TEST_CASE("schedule refuses a file of another kind before it does anything") {
  const Scratch scratch;

  const Outcome refused =
      zygos_run({"schedule", "missing.yaml", "--output", "step.pdf"}, scratch.path());

  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, ContainsSubstring("step.pdf") && ContainsSubstring(".svg"));
}

}  // namespace zygos::test::test_schedule_command
