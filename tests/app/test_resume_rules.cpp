// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "tiny_run.hpp"

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <csignal>
#include <random>
#include <thread>

namespace zygos::test::test_resume_rules {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

/// A run long enough to be interrupted, with a checkpoint every few steps.
const std::vector<std::string> long_run{"train.epochs=40", "checkpoint.every=20 steps"};

std::vector<std::string> with(std::vector<std::string> words,
                              const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Ends a long run by a signal once it has some checkpoints; returns its exit code.
int interrupt(const fs::path& directory, int signal, const std::vector<std::string>& further = {}) {
  Process process(with(unmeasured_words(long_run), further), directory);
  REQUIRE(wait_for_checkpoints(directory, 2));
  process.send(signal);
  return process.wait().code;
}

std::string undisturbed_hash() {
  static const std::string hash = [] {
    const Scratch scratch;
    write_tiny_deck(scratch.path());
    return train_unmeasured(scratch.path(), long_run)["weights_xxh64"].get<std::string>();
  }();
  return hash;
}

}  // namespace

TEST_CASE("the same weights come out for 1, 2, 3 and 4 threads") {
  std::string first;
  for (const char* threads : {"1", "2", "3", "4"}) {
    const Scratch scratch;
    write_tiny_deck(scratch.path());

    const std::string hash =
        train_unmeasured(scratch.path(), {"train.epochs=3", "--threads", threads})["weights_xxh64"];

    first = first.empty() ? hash : first;
    CHECK(hash == first);
  }
}

TEST_CASE("SIGTERM saves, exits with 75, and the same command goes on to the same bits") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  CHECK(interrupt(scratch.path(), SIGTERM) == 75);
  CHECK(summary_in(scratch.path())["finished"] == false);
  const nlohmann::json resumed = train_unmeasured(scratch.path(), long_run);

  CHECK(resumed["finished"] == true);
  CHECK(resumed["weights_xxh64"] == undisturbed_hash());
}

TEST_CASE("SIGINT saves as well") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  CHECK(interrupt(scratch.path(), SIGINT) == 75);
}

TEST_CASE("SIGUSR1 saves and the run goes on") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  Process process(unmeasured_words({"train.epochs=20000", "checkpoint.every=never"}),
                  scratch.path());
  REQUIRE(wait_for_checkpoints(scratch.path(), 1));  // that of step 0, and no other unasked
  process.send(SIGUSR1);

  CHECK(wait_for_checkpoints(scratch.path(), 2));
  CHECK(process.running());
  process.send(SIGTERM);
  CHECK(process.wait().code == 75);
}

TEST_CASE("a run resumed with another number of threads ends with the same bits") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  CHECK(interrupt(scratch.path(), SIGTERM, {"--threads", "1"}) == 75);
  const nlohmann::json resumed =
      train_unmeasured(scratch.path(), with(long_run, {"--threads", "3"}));

  CHECK(resumed["weights_xxh64"] == undisturbed_hash());
}

TEST_CASE("50 kills at random moments lose nothing and change no bit") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const std::uint32_t seed = Catch::getSeed();  // which Catch2 prints; --rng-seed repeats it
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> milliseconds(5, 120);
  int kills = 0;

  while (kills < 50) {
    Process process(unmeasured_words(long_run), scratch.path());
    // Before its first checkpoint a run measures its lanes and has nothing to lose.
    REQUIRE(wait_for_checkpoints(scratch.path(), 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds(random)));
    if (!process.running()) {
      // It finished before it was killed: begin another run to kill.
      REQUIRE(process.wait().code == 0);
      REQUIRE(summary_in(scratch.path())["weights_xxh64"] == undisturbed_hash());
      continue;
    }
    process.send(SIGKILL);
    process.wait();
    ++kills;
  }
  const nlohmann::json end = train_unmeasured(scratch.path(), long_run);

  CHECK(end["weights_xxh64"] == undisturbed_hash());
}

TEST_CASE("a finished run starts anew and the old folder is kept") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const nlohmann::json first = train_unmeasured(scratch.path());

  const nlohmann::json second = train_unmeasured(scratch.path());

  CHECK(fs::exists(scratch.path() / "runs/tiny.1/summary.json"));
  CHECK(second["steps"] == first["steps"]);
  CHECK(second["weights_xxh64"] == first["weights_xxh64"]);
}

TEST_CASE("--fresh starts anew in the middle of a run") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  CHECK(interrupt(scratch.path(), SIGTERM) == 75);

  train_unmeasured(scratch.path(), with(long_run, {"--fresh"}));

  CHECK(fs::exists(scratch.path() / "runs/tiny.1/checkpoints"));
  CHECK(summary_in(scratch.path())["weights_xxh64"] == undisturbed_hash());
}

TEST_CASE("a deck that changed what is learnt is refused with the difference") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  CHECK(interrupt(scratch.path(), SIGTERM) == 75);

  for (const char* change : {"optimizer.learning_rate=0.5", "seed=77", "train.batch=16"}) {
    const Outcome outcome =
        zygos_run(with(with({"train", "tiny.yaml"}, long_run), {change}), scratch.path());

    const std::string text = change;
    CAPTURE(text, outcome.err);
    CHECK(outcome.code == 4);
    CHECK_THAT(outcome.err, ContainsSubstring(text.substr(0, text.find('='))));
    CHECK_THAT(outcome.err, ContainsSubstring("--fresh"));
  }
}

TEST_CASE("a deck may ask for more epochs and other checkpoints on the way") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  CHECK(interrupt(scratch.path(), SIGTERM) == 75);

  const nlohmann::json end =
      train_unmeasured(scratch.path(), {"train.epochs=41", "checkpoint.every=50 steps"});

  CHECK(end["steps"] == 41 * 15);
}

TEST_CASE("resume continues the run in a folder, and prolongs a finished one") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  train_unmeasured(scratch.path());

  const Outcome outcome =
      zygos_run({"resume", "runs/tiny", "train.epochs=40", "--json"}, scratch.path());

  CHECK(outcome.code == 0);
  CHECK(nlohmann::json::parse(outcome.out)["weights_xxh64"] == undisturbed_hash());
}

TEST_CASE("a second process in the same folder is refused") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  Process first(unmeasured_words({"train.epochs=20000"}), scratch.path());
  REQUIRE(wait_for_checkpoints(scratch.path(), 1));

  const Outcome second = zygos_run(unmeasured_words({"train.epochs=20000"}), scratch.path());

  CHECK(second.code == 2);
  CHECK_THAT(second.err, ContainsSubstring("another zygos is at work"));
}

TEST_CASE("a truncated newest checkpoint costs a warning, the one before it is used") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  CHECK(interrupt(scratch.path(), SIGTERM) == 75);
  for (const auto& entry : fs::directory_iterator(newest_checkpoint_in(scratch.path()))) {
    fs::resize_file(entry.path(), fs::file_size(entry.path()) / 2);
  }

  const Outcome outcome = zygos_run(unmeasured_words(long_run), scratch.path());

  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.err, ContainsSubstring("warning:"));
  CHECK(nlohmann::json::parse(outcome.out)["weights_xxh64"] == undisturbed_hash());
}

TEST_CASE("a run whose checkpoints are all damaged is refused") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  CHECK(interrupt(scratch.path(), SIGTERM) == 75);
  for (const auto& entry :
       fs::recursive_directory_iterator(scratch.path() / "runs/tiny/checkpoints")) {
    if (entry.is_regular_file()) {
      fs::resize_file(entry.path(), fs::file_size(entry.path()) / 2);
    }
  }

  const Outcome outcome = zygos_run(unmeasured_words(long_run), scratch.path());

  CHECK(outcome.code == 4);
}

}  // namespace zygos::test::test_resume_rules
