// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of several processes that end before they are done: stopped, killed, failing.
#include "mpi_run.hpp"
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <chrono>
#include <csignal>
#include <fstream>

namespace zygos::test::test_mpi_stop {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::vector<std::string> long_run{"train.epochs=40", "checkpoint.every=10 steps"};
/// The same weights, without the time that checkpoints take.
const std::vector<std::string> rest_of_run{"train.epochs=40", "checkpoint.every=1000 steps"};

/// The ranks: mpirun's children.
std::vector<pid_t> children_of(pid_t parent) {
  const std::string task = std::to_string(parent);
  std::ifstream list("/proc/" + task + "/task/" + task + "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; list >> child;) {
    children.push_back(child);
  }
  return children;
}

/// A deck in DIRECTORY and the weights that its long run ends with, undisturbed.
std::string undisturbed_weights(const fs::path& directory) {
  write_lanes_deck(directory, "{type: one_f_one_b, micro_batches: 4}");
  auto words = rest_of_run;
  words.insert(words.end(), {"--run-dir", "undisturbed"});
  return trained_weights(1, directory, words);
}

}  // namespace

TEST_CASE("SIGTERM to any rank, or SIGUSR2 to mpirun, saves, stops all and loses nothing") {
  const Scratch scratch;
  const std::string expected = undisturbed_weights(scratch.path());
  const int rank = GENERATE(-1, 0, 1);  // -1: mpirun
  CAPTURE(rank);
  {
    MpiProcess run(2, unmeasured_words(long_run), scratch.path());
    REQUIRE(wait_for_checkpoints(scratch.path(), 3));
    if (rank < 0) {
      run.send(SIGUSR2);
    } else {
      ::kill(children_of(run.pid()).at(static_cast<std::size_t>(rank)), SIGTERM);
    }
    const Outcome outcome = run.wait();
    CAPTURE(outcome.err);
    CHECK(outcome.code == 75);
    CHECK(nlohmann::json::parse(outcome.out)["finished"] == false);
  }
  // Any number of ranks goes on.
  CHECK(trained_weights(rank < 0 ? 4 : 1, scratch.path(), rest_of_run) == expected);
}

TEST_CASE("SIGTERM to mpirun saves the run within the time that mpirun leaves it") {
  const Scratch scratch;
  const std::string expected = undisturbed_weights(scratch.path());
  {
    MpiProcess run(2, unmeasured_words(long_run), scratch.path(),
                   {"--mca", "odls_base_sigkill_timeout", "10"});
    REQUIRE(wait_for_checkpoints(scratch.path(), 3));
    run.send(SIGTERM);
    // Its own code: it has been told to end and takes no further interest in the ranks.
    CHECK(run.wait().code != 0);
  }
  CHECK(summary_in(scratch.path())["steps"] > 20);
  CHECK(trained_weights(2, scratch.path(), rest_of_run) == expected);
}

TEST_CASE("a rank that is killed ends the run, and the next start goes on") {
  const Scratch scratch;
  const std::string expected = undisturbed_weights(scratch.path());
  const auto rank = static_cast<std::size_t>(GENERATE(0, 1));
  CAPTURE(rank);
  {
    MpiProcess run(2, unmeasured_words(long_run), scratch.path());
    REQUIRE(wait_for_checkpoints(scratch.path(), 3));
    ::kill(children_of(run.pid()).at(rank), SIGKILL);
    CHECK(run.wait(std::chrono::seconds(60)).code != 0);
  }
  CHECK(trained_weights(2, scratch.path(), rest_of_run) == expected);
  CHECK(summary_in(scratch.path())["finished"] == true);
}

TEST_CASE("a rank that hangs ends the run after the deck's time limit, and not before") {
  const Scratch scratch;
  write_lanes_deck(scratch.path(), "{type: one_f_one_b, micro_batches: 4}");
  MpiProcess run(2,
                 unmeasured_words(
                     {"train.epochs=4000", "checkpoint.every=10 steps", "train.peer_timeout=2 s"}),
                 scratch.path());
  REQUIRE(wait_for_checkpoints(scratch.path(), 3));
  const auto begun = std::chrono::steady_clock::now();
  ::kill(children_of(run.pid()).at(1), SIGSTOP);

  const Outcome outcome = run.wait(std::chrono::seconds(60));

  CHECK(outcome.code == 8);
  CHECK(std::chrono::steady_clock::now() - begun > std::chrono::seconds(2));
  CHECK_THAT(outcome.err,
             ContainsSubstring("no progress for 2 s") && ContainsSubstring("train.peer_timeout"));
}

TEST_CASE("a rank that fails alone says so and ends all others") {
  const Scratch scratch;
  write_lanes_deck(scratch.path(), "{type: one_f_one_b, micro_batches: 4}");
  MpiProcess run(2, unmeasured_words({"train.epochs=4000", "checkpoint.every=10 steps"}),
                 scratch.path());
  REQUIRE(wait_for_checkpoints(scratch.path(), 3));
  const fs::path checkpoints = scratch.path() / "runs/tiny/checkpoints";
  fs::rename(checkpoints, scratch.path() / "elsewhere");
  write_text(checkpoints, "not a directory");

  const Outcome outcome = run.wait(std::chrono::seconds(60));

  CHECK(outcome.code == 5);
  CHECK(count_of("error: rank 0 on ", outcome.err) == 1);
  CHECK(nlohmann::json::parse(outcome.out)["error"]["code"] == 5);
}

}  // namespace zygos::test::test_mpi_stop
