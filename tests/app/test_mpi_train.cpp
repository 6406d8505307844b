// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "mpi_run.hpp"
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdlib>

namespace zygos::test::test_mpi_train {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("under mpirun every policy trains the bits that it trains in one process") {
  const std::string policy = GENERATE(
      "{type: data_parallel, exchange: ring}", "{type: data_parallel, exchange: sharded}",
      "{type: data_parallel, exchange: all_reduce}", "{type: data_parallel, exchange: central}",
      "{type: multi_worker_mirrored}", "{type: central_storage, server: b}",
      "{type: gpipe, micro_batches: 4}", "{type: one_f_one_b, micro_batches: 4}",
      "{type: layer_placement}", "{type: tensor_parallel, shares: [4, 3, 2, 1]}");
  const Scratch scratch;
  write_lanes_deck(scratch.path(), policy);
  const std::string expected = trained_weights(1, scratch.path(), {"--run-dir", "one"});
  for (const int ranks : {2, 4}) {
    CAPTURE(policy, ranks);
    const std::string folder = std::to_string(ranks);
    CHECK(trained_weights(ranks, scratch.path(), {"--run-dir", folder}) == expected);
    // What is in the folder is rank 0's alone, and whole.
    const auto summary = nlohmann::json::parse(read_text(scratch.path() / folder / "summary.json"));
    CHECK(summary["ranks"] == ranks);
    CHECK(summary["weights_xxh64"] == expected);
    CHECK(summary["peak_bytes"].contains("d"));
    CHECK(count_of("\"kind\":\"finished\"", read_text(scratch.path() / folder / "metrics.jsonl")) ==
          1);
  }
}

TEST_CASE("several ranks refuse to stream a checkpoint, which takes all lanes in one process") {
  const Scratch scratch;
  write_lanes_deck(scratch.path(), "{type: data_parallel, exchange: ring}", 2);

  const Outcome outcome =
      mpi_run(2, {"train", "tiny.yaml", "checkpoint.copy=streamed"}, scratch.path());

  CAPTURE(outcome.out, outcome.err);
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err,
             ContainsSubstring("this run has 2 processes") && ContainsSubstring("copy: whole"));
  CHECK_FALSE(fs::exists(scratch.path() / "runs"));
}

TEST_CASE("several ranks end with the best weights that one process ends with") {
  const Scratch scratch;
  write_lanes_deck(scratch.path(), "{type: data_parallel, exchange: ring}", 2);
  const std::vector<std::string> words{"optimizer={type: adam, learning_rate: 0.08}",
                                       "train.epochs=12",
                                       "train.evaluate_every=5 steps",
                                       "train.best_by=macro_f1",
                                       "train.restore_best=true",
                                       "--run-dir"};
  const auto trained = [&](int ranks, const std::string& folder) {
    std::vector<std::string> all = words;
    all.push_back(folder);
    return trained_weights(ranks, scratch.path(), all);
  };

  CHECK(trained(2, "two") == trained(1, "one"));

  const auto summary = nlohmann::json::parse(read_text(scratch.path() / "two/summary.json"));
  CHECK(summary["restored_step"] < summary["steps"]);
}

TEST_CASE("mirrored replicas do not go beyond a process") {
  const Scratch scratch;
  write_lanes_deck(scratch.path(), "{type: mirrored}", 2);

  const Outcome outcome = mpi_run(2, {"train", "tiny.yaml"}, scratch.path());

  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, ContainsSubstring("take policy multi_worker_mirrored"));
}

TEST_CASE("on several ranks auto decides without measuring, and says so") {
  const Scratch scratch;
  write_lanes_deck(scratch.path(), "{type: auto, among: [single, gpipe, data_parallel]}", 2);

  const Outcome outcome = mpi_run(2, {"train", "tiny.yaml"}, scratch.path());

  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, ContainsSubstring("policy: {type: ") &&
                              ContainsSubstring("the policy is chosen by the layers' FLOPs"));
}

TEST_CASE("under mpirun a batch is split as the deck says") {
  const Scratch scratch;
  write_lanes_deck(scratch.path(), "{type: coarse_split, share: 0.375}", 2);

  const std::string expected = trained_weights(1, scratch.path(), {"--run-dir", "one"});

  CHECK(trained_weights(2, scratch.path(), {"--run-dir", "two"}) == expected);
}

TEST_CASE("a share that the deck leaves open is equal on several ranks, and that is said") {
  const Scratch scratch;
  write_lanes_deck(scratch.path(), "{type: coarse_split, share: auto}", 2);

  const Outcome outcome = mpi_run(2, {"train", "tiny.yaml"}, scratch.path());

  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, ContainsSubstring("a 16 + b 16 of 32 samples"));
  CHECK_THAT(outcome.out, ContainsSubstring("a share that the deck leaves open is equal"));
}

TEST_CASE("only rank 0 speaks, and says where every lane is") {
  const Scratch scratch;
  write_lanes_deck(scratch.path(), "{type: gpipe, micro_batches: 4}");

  const Outcome outcome = mpi_run(2, {"train", "tiny.yaml"}, scratch.path());

  CHECK(outcome.code == 0);
  CHECK(count_of("rank 0 on ", outcome.out) == 2);
  CHECK(count_of("rank 1 on ", outcome.out) == 2);
  CHECK(count_of("xxh64", outcome.out) == 1);
  CHECK(count_of("zygos", outcome.err) == 0);
}

TEST_CASE(
    "no cursor codes go where the launcher's output is no terminal, though its ranks have one") {
  const Scratch scratch;
  write_lanes_deck(scratch.path(), "{type: data_parallel}");
  ::setenv("TERM", "xterm", 1);
  ::unsetenv("NO_COLOR");

  const Outcome outcome = mpi_run(2, {"train", "tiny.yaml"}, scratch.path());

  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.out, ContainsSubstring("step ") && !ContainsSubstring("\033"));
  CHECK_THAT(outcome.err, !ContainsSubstring("\033"));
}

TEST_CASE("more ranks than lanes are refused at once, with both numbers") {
  const Scratch scratch;
  write_lanes_deck(scratch.path(), "{type: layer_placement}", 2);

  const Outcome outcome = mpi_run(4, {"train", "tiny.yaml", "--json"}, scratch.path());

  CHECK(outcome.code == 2);
  CHECK(count_of("error:", outcome.err) == 1);
  CHECK_THAT(outcome.err, ContainsSubstring("found 4 ranks and 2 lanes"));
  CHECK_THAT(outcome.err, ContainsSubstring("'count'"));
  CHECK(nlohmann::json::parse(outcome.out)["error"]["code"] == 2);
  CHECK_FALSE(fs::exists(scratch.path() / "runs"));
}

TEST_CASE("what is wrong on all ranks is said once") {
  const Scratch scratch;
  write_lanes_deck(scratch.path(), "{type: gpipe, micro_batches: 4}");

  const Outcome bad_deck =
      mpi_run(2, {"train", "tiny.yaml", "--json", "optimizer.learning_rate=fast"}, scratch.path());
  CHECK(bad_deck.code == 2);
  CHECK(count_of("error:", bad_deck.err) == 1);
  CHECK_THAT(bad_deck.err, ContainsSubstring("optimizer.learning_rate"));
  CHECK(nlohmann::json::parse(bad_deck.out)["error"]["code"] == 2);

  const Outcome bad_word = mpi_run(2, {"trian", "tiny.yaml"}, scratch.path());
  CHECK(bad_word.code == 2);
  CHECK(count_of("error:", bad_word.err) == 1);

  const Outcome diverged =
      mpi_run(2, {"train", "tiny.yaml", "--json", "optimizer={type: sgd, learning_rate: 1e30}"},
              scratch.path());
  CHECK(diverged.code == 7);
  CHECK(count_of("error:", diverged.err) == 1);
  CHECK(nlohmann::json::parse(diverged.out)["error"]["code"] == 7);
}

TEST_CASE("what is wrong on one rank is said by its name") {
  const Scratch scratch;
  write_lanes_deck(scratch.path(), "{type: data_parallel}");

  const Outcome outcome =
      mpi_run(2, {"train", "tiny.yaml", "--json", "lanes.d.memory=1 KiB"}, scratch.path());

  CHECK(outcome.code == 6);
  CHECK(count_of("error:", outcome.err) == 1);
  CHECK_THAT(outcome.err, ContainsSubstring("rank 1 on ") && ContainsSubstring("'d'"));
  CHECK(nlohmann::json::parse(outcome.out)["error"]["code"] == 6);
}

TEST_CASE("what the machine has no memory for is refused for all ranks of a host together") {
  const Scratch scratch;
  write_lanes_deck(scratch.path(), "{type: data_parallel}");

  const Outcome outcome =
      mpi_run(2,
              {"train", "tiny.yaml", "--json",
               "model.layers=[{type: dense, units: 400000, activation: relu}, {type: dense, units: "
               "400000}, {type: dense, units: 10}]"},
              scratch.path());

  CHECK(outcome.code == 6);
  CHECK(count_of("error:", outcome.err) == 1);
  CHECK_THAT(outcome.err,
             ContainsSubstring("the 2 processes of this run on one host need together"));
}

TEST_CASE("ranks that read different decks are told so") {
  const Scratch scratch;
  write_lanes_deck(scratch.path(), "{type: data_parallel}");
  // mpirun starts another command as rank 1.
  const std::vector<std::string> rank_1{":", "-n", "1", executable(), "train", "tiny.yaml"};
  std::vector<std::string> words{"train", "tiny.yaml"};
  words.insert(words.end(), rank_1.begin(), rank_1.end());
  words.emplace_back("seed=6");

  const Outcome outcome = mpi_run(1, words, scratch.path());

  CHECK(outcome.code == 2);
  CHECK(count_of("error:", outcome.err) == 1);
  CHECK_THAT(outcome.err,
             ContainsSubstring("rank 1 on ") && ContainsSubstring("the deck tiny is not the same"));
  CHECK_FALSE(fs::exists(scratch.path() / "runs"));
}

TEST_CASE("work for one process is refused to several") {
  const Scratch scratch;
  write_lanes_deck(scratch.path(), "{type: data_parallel}");

  const Outcome outcome = mpi_run(2, {"check", "tiny.yaml"}, scratch.path());

  CHECK(outcome.code == 2);
  CHECK(count_of("error:", outcome.err) == 1);
  CHECK_THAT(outcome.err, ContainsSubstring("without mpirun"));
  CHECK(mpi_run(1, {"check", "tiny.yaml"}, scratch.path()).code == 0);
}

TEST_CASE("ranks change their samples at random alike") {
  const Scratch scratch;
  write_lanes_deck(scratch.path(), "{type: data_parallel, exchange: ring}", 2);
  const auto trained = [&](int ranks, const std::string& folder) {
    return trained_weights(ranks, scratch.path(),
                           {"data.augment={flip: both, crop: 2, noise: 0.1}", "--run-dir", folder});
  };

  CHECK(trained(2, "two") == trained(1, "one"));
}

}  // namespace zygos::test::test_mpi_train
