// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A run that goes on with other lanes or another policy than it was stopped with.
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <chrono>
#include <csignal>
#include <thread>

namespace zygos::test::test_elastic_resume {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using Words = std::vector<std::string>;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const Words strict{"train.epochs=200", "train.strict=auto", "checkpoint.every=15 steps"};

/// Stops a run of `words` once it has some checkpoints more.
void stop_early(const Words& words, const fs::path& directory) {
  const fs::path before =
      checkpoints_in(directory) > 0 ? newest_checkpoint_in(directory) : fs::path();
  Process process(words, directory);
  for (int i = 0; i < 4000; ++i) {
    if (checkpoints_in(directory) > 0 && newest_checkpoint_in(directory) != before) {
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  process.send(SIGTERM);
  REQUIRE(process.wait().code == 75);
}

Words resume(const Words& words) { return joined({"resume", "runs/tiny", "--json"}, words); }

nlohmann::json to_the_end(const fs::path& directory, const Words& words) {
  return json_of(resume(words), directory);
}

}  // namespace

TEST_CASE("in strict mode a run goes on with other policies, lanes and threads to the same bits") {
  const Scratch alone;
  write_tiny_deck(alone.path());
  const nlohmann::json expected = train_unmeasured(alone.path(), joined(strict, {"policy=single"}));
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  stop_early(unmeasured_words(strict), scratch.path());  // coarse_split
  stop_early(resume({"policy.type=gpipe", "policy.micro_batches=4"}), scratch.path());
  stop_early(resume({"policy={type: data_parallel}",
                     "lanes={a: {kind: host}, b: {kind: emulated}, c: {kind: emulated}}"}),
             scratch.path());
  stop_early(resume({"policy.type=zero_offload", "lanes={a: {kind: host}, b: {kind: emulated}}"}),
             scratch.path());
  const nlohmann::json end =
      to_the_end(scratch.path(), {"policy.type=single", "lanes={only: {kind: host}}"});

  CHECK(end["policy"] == "single");
  CHECK(end["steps"] == expected["steps"]);
  CHECK(end["weights_xxh64"] == expected["weights_xxh64"]);
}

TEST_CASE("double buffering may begin and end with a resume, and changes no bit") {
  const Scratch alone;
  write_tiny_deck(alone.path());
  const Words length{"train.epochs=60", "checkpoint.every=15 steps"};
  const nlohmann::json expected = train_unmeasured(alone.path(), length);
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  stop_early(unmeasured_words(joined(length, {"train.double_buffer=true"})), scratch.path());
  stop_early(resume({"train.double_buffer=false"}), scratch.path());
  const nlohmann::json end = to_the_end(scratch.path(), {"train.double_buffer=true"});

  CHECK(end["steps"] == expected["steps"]);
  CHECK(end["weights_xxh64"] == expected["weights_xxh64"]);
}

TEST_CASE("replicas go on with fewer lanes and say what becomes of the bits") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  stop_early(unmeasured_words(
                 {"train.epochs=200", "checkpoint.every=15 steps", "policy={type: data_parallel}",
                  "lanes={a: {kind: host}, b: {kind: emulated}, c: {kind: emulated}}"}),
             scratch.path());

  const Outcome outcome =
      zygos_run(resume({"lanes={a: {kind: host}, b: {kind: emulated}}"}), scratch.path());

  CAPTURE(outcome.err);
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.err, ContainsSubstring("bits may differ from now on"));
  CHECK(nlohmann::json::parse(outcome.out)["steps"] == 200 * 15);
}

TEST_CASE("what an asynchronous policy learns depends on its places: they stay") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const Words pipedream{"train.epochs=200", "checkpoint.every=15 steps",
                        "policy={type: pipedream, micro_batches: 4}"};
  stop_early(unmeasured_words(pipedream), scratch.path());
  const auto refused = [&](const Words& words) {
    const Outcome outcome = zygos_run(resume(words), scratch.path());
    CHECK(outcome.code == 4);
    return outcome.err;
  };

  CHECK_THAT(refused({"policy={type: gpipe, micro_batches: 4}"}),
             ContainsSubstring("'pipedream', which it was written with, is asynchronous"));
  CHECK_THAT(refused({"lanes={a: {kind: host}, b: {kind: emulated}}"}),
             ContainsSubstring("is asynchronous"));
  // What was refused left no trace.
  to_the_end(scratch.path(), {"train.epochs=201"});
  stop_early(unmeasured_words({"train.epochs=200", "checkpoint.every=15 steps", "--fresh"}),
             scratch.path());
  CHECK_THAT(refused({"policy={type: pipedream, micro_batches: 4}"}),
             ContainsSubstring("policy 'pipedream' is asynchronous"));
  CHECK_THAT(refused({"optimizer.learning_rate=1"}), ContainsSubstring("optimizer.learning_rate"));
}

TEST_CASE("only resume takes another policy, and train says so") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  stop_early(unmeasured_words(strict), scratch.path());

  const Outcome outcome =
      zygos_run(unmeasured_words(joined(strict, {"policy={type: single}"})), scratch.path());

  CHECK(outcome.code == 4);
  CHECK_THAT(outcome.err, ContainsSubstring("zygos resume RUN_DIR"));
}

}  // namespace zygos::test::test_elastic_resume
