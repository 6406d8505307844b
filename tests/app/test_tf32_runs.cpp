// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole runs with `precision: tf32` on lanes that have none: those of float32.
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <csignal>
#include <string>
#include <vector>

namespace zygos::test::test_tf32_runs {
namespace {

using Catch::Matchers::ContainsSubstring;

std::vector<std::string> long_words(const std::string& precision) {
  return unmeasured_words(
      {"train.epochs=120", "checkpoint.every=20 steps", "precision=" + precision});
}

/// Stopped with one precision, it goes on with the other to the bits of a run that was not stopped.
std::string resumed_hash(const std::string& first, const std::string& second) {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  {
    Process process(long_words(first), scratch.path());
    REQUIRE(wait_for_checkpoints(scratch.path(), 2));
    process.send(SIGKILL);
    process.wait();
  }
  const Outcome resumed = zygos_run(long_words(second), scratch.path());
  CAPTURE(resumed.err);
  REQUIRE(resumed.code == 0);
  CHECK_THAT(resumed.err, ContainsSubstring("continuing "));
  return summary_in(scratch.path())["weights_xxh64"].get<std::string>();
}

}  // namespace

TEST_CASE("A run with tf32 says which lanes compute in f32, and has the bits of float32") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const Outcome checked = zygos_run({"check", "tiny.yaml", "precision=tf32"}, scratch.path());
  const Outcome without = zygos_run({"check", "tiny.yaml"}, scratch.path());

  REQUIRE(checked.code == 0);
  CHECK_THAT(checked.err + checked.out, ContainsSubstring("f32 on lanes without it: host, device"));
  CHECK_THAT(without.err + without.out, !ContainsSubstring("on lanes without it"));

  const auto rounded = train_unmeasured(scratch.path(), {"precision=tf32", "--run-dir", "rounded"});
  const auto full = train_unmeasured(scratch.path(), {"--run-dir", "full"});
  CHECK(rounded["weights_xxh64"] == full["weights_xxh64"]);
  CHECK(rounded["tf32_lanes"].empty());
  CHECK(rounded["tf32_lanes"].is_array());
  CHECK_FALSE(full.contains("tf32_lanes"));
}

TEST_CASE("A checkpoint of float32 goes on with tf32, and one of tf32 with float32") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  REQUIRE(zygos_run(long_words("float32"), scratch.path()).code == 0);
  const std::string undisturbed = summary_in(scratch.path())["weights_xxh64"].get<std::string>();

  CHECK(resumed_hash("float32", "tf32") == undisturbed);
  CHECK(resumed_hash("tf32", "float32") == undisturbed);
}

TEST_CASE("A checkpoint of tf32 does not go on with bf16") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  {
    Process process(long_words("tf32"), scratch.path());
    REQUIRE(wait_for_checkpoints(scratch.path(), 1));
    process.send(SIGKILL);
    process.wait();
  }

  const Outcome refused = zygos_run(long_words("bf16"), scratch.path());

  CHECK(refused.code == 4);
  CHECK_THAT(refused.err, ContainsSubstring("precision: tf32 -> bf16"));
}

TEST_CASE("Strict mode takes tf32 where no lane has it") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const Outcome checked =
      zygos_run({"check", "tiny.yaml", "policy=single", "precision=tf32", "train.strict=auto"},
                scratch.path());

  CAPTURE(checked.err);
  CHECK(checked.code == 0);
}

}  // namespace zygos::test::test_tf32_runs
