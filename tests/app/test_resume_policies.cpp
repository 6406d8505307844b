// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Kill and resume, with every policy: same schedule, same bits.
#include "tiny_run.hpp"

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>

namespace zygos::test::test_resume_policies {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

// Two stops take up to 60 steps of the 240: a checkpoint an epoch, and never more than two to wait
// for.
const std::string epochs = "train.epochs=16";
// Measuring lanes takes longer than these runs.
const std::string unmeasured = "--unmeasured";
const std::vector<std::string> long_run{epochs, "checkpoint.every=15 steps"};

std::vector<std::string> words_of(const std::string& policy,
                                  const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = long_run;
  words.push_back("policy=" + policy);
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// The policy with what was decided as options.
std::string fixed(const std::string& policy, const nlohmann::json& decisions) {
  std::string text = policy.substr(0, policy.size() - 1);
  for (const auto& [key, value] : decisions.items()) {
    text += ", " + key + ": " + value.get<std::string>();
  }
  return text + "}";
}

/// That the planner has to decide something of.
std::string measured_policy() {
  return GENERATE(as<std::string>{}, "{type: coarse_split}", "{type: layer_placement}",
                  "{type: gpipe, micro_batches: 4}");
}

std::string other_policy() {
  return GENERATE(
      as<std::string>{}, "{type: single, lane: device}",
      "{type: gpipe, micro_batches: 4, recompute: always}", "{type: one_f_one_b, micro_batches: 4}",
      "{type: hippie, micro_batches: 2}", "{type: hippie, replicas: 1}", "{type: data_parallel}",
      "{type: data_parallel, exchange: ring}", "{type: data_parallel, exchange: central}",
      "{type: data_parallel, exchange: chunked_broadcast}",
      "{type: tensor_parallel, shares: [2, 1]}",
      "{type: pipedream, micro_batches: 4, average: 7 steps}", "{type: pipedream_2bw, updates: 2}");
}

/// The newest checkpoint once it is another one than `before`; empty if it never is.
fs::path next_checkpoint(const fs::path& directory, const fs::path& before) {
  for (int i = 0; i < 4000; ++i) {
    if (checkpoints_in(directory) > 0 && newest_checkpoint_in(directory) != before) {
      return newest_checkpoint_in(directory);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return {};
}

/// Kills a run, goes on, tells that to end, goes on to the end: the bits are those of a run that
/// nobody disturbed. `more`: of the deck.
void stop_twice_and_go_on(const std::string& policy, const std::vector<std::string>& more = {}) {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  if (more.empty()) {
    keep_tiny_profile(scratch.path());
  }
  std::mt19937 random(Catch::getSeed());
  std::uniform_int_distribution<int> checkpoints(1, 2);
  std::uniform_int_distribution<int> microseconds(0, 5000);
  fs::path newest;
  // A killed run has what its last checkpoint has; one that is told to end saves whole steps.
  for (const int signal : {SIGKILL, SIGTERM}) {
    const auto wait_us = microseconds(random);
    CAPTURE(policy, more, signal, wait_us);
    Process process(train_words(words_of(policy, more)), scratch.path());
    for (int count = checkpoints(random); count > 0; --count) {
      newest = next_checkpoint(scratch.path(), newest);
      REQUIRE_FALSE(newest.empty());
    }
    std::this_thread::sleep_for(std::chrono::microseconds(wait_us));
    process.send(signal);
    CHECK(process.wait().code == (signal == SIGKILL ? 128 + SIGKILL : 75));
    // It may have kept one more before the signal came: that is no sign of the next run.
    newest = newest_checkpoint_in(scratch.path());
  }
  if (more.empty()) {
    // What a profile decided must come from the checkpoint: there is no other profile to ask.
    fs::remove_all(scratch.path() / "cache");
  }

  const nlohmann::json resumed = train_to_the_end(scratch.path(), words_of(policy, more));

  CHECK(resumed["steps"] == 16 * 15);
  std::vector<std::string> words{epochs, "policy=" + fixed(policy, resumed["decisions"]),
                                 "--run-dir", "undisturbed"};
  words.insert(words.end(), more.begin(), more.end());
  const nlohmann::json undisturbed = train_to_the_end(scratch.path(), words);
  CHECK(undisturbed["weights_xxh64"] == resumed["weights_xxh64"]);
  CHECK(undisturbed["placement"] == resumed["placement"]);
}

}  // namespace

TEST_CASE("a run stopped anywhere goes on with what was decided from a profile") {
  stop_twice_and_go_on(measured_policy());
}

TEST_CASE("a run stopped anywhere goes on to the bits of an undisturbed one whatever its policy") {
  stop_twice_and_go_on(other_policy(), {unmeasured});
}

// A schedule that began anew, or took another step's rate, would end with other bits.
TEST_CASE("a run stopped anywhere goes on with the learning rate of its step") {
  const auto policy = GENERATE(as<std::string>{}, "{type: data_parallel}",
                               "{type: pipedream, micro_batches: 4, average: 7 steps}");
  const auto schedule =
      GENERATE(as<std::string>{}, "{type: cosine, length: 16 epochs, warm_up: 70 steps}",
               "{type: step, every: 55 steps, factor: 0.8}");
  stop_twice_and_go_on(policy, {unmeasured, "optimizer.schedule=" + schedule});
}

TEST_CASE("a run that clips gradients goes on to the same bits") {
  stop_twice_and_go_on(
      GENERATE(as<std::string>{}, "{type: coarse_split}", "{type: data_parallel}",
               "{type: layer_placement}", "{type: gpipe, micro_batches: 4}",
               "{type: one_f_one_b, micro_batches: 4}", "{type: hippie, micro_batches: 2}",
               "{type: data_parallel, exchange: chunked_broadcast}",
               "{type: pipedream_2bw, updates: 2}",
               "{type: zero_offload, owner: host, bucket: 1 kB, speculate: on}",
               "{type: cotrain, owner: host, bucket: 1 kB, device_layers: 1, speculate: on}"),
      {unmeasured, "optimizer.clip_norm=0.5"});
}

TEST_CASE("a run of sliced attention or convolutions goes on to the bits of an undisturbed one") {
  const auto model = GENERATE(
      as<std::vector<std::string>>{},
      std::vector<std::string>{
          unmeasured,
          "data={format: tokens, sequence: 8, vocabulary: 11, samples: 480, test_samples: 32}",
          "model.layers=[{type: embedding, vocabulary: 11, units: 8}, positions, layer_norm, "
          "{type: dense, units: 24, flatten: false}, "
          "{type: causal_attention, heads: 2, dropout: 0.1}, "
          "{type: dense, units: 8, flatten: false}, {type: dense, units: 11, flatten: false}]"},
      std::vector<std::string>{
          unmeasured,
          "model.layers=[{type: conv2d, filters: 3, kernel: 5, stride: 3, bias: false}, "
          "batch_norm, relu, {type: dropout, rate: 0.1}, {type: conv2d, filters: 2, kernel: 3}, "
          "flatten, {type: dense, units: 10}]",
          "optimizer.clip_norm=0.5"});
  stop_twice_and_go_on("{type: tensor_parallel, shares: [2, 1]}", model);
}

TEST_CASE("a run of copied convolutions and cut dense layers goes on to the same bits") {
  for (const std::string exchange : {"in_turns", "all_gather"}) {
    stop_twice_and_go_on(
        "{type: hybrid_conv_fc, cut_from: dense1, turns: 2, exchange: " + exchange + "}",
        {unmeasured,
         "model.layers=[{type: conv2d, filters: 3, kernel: 5, stride: 3}, "
         "{type: dropout, rate: 0.1}, {type: dense, units: 16, activation: relu}, "
         "{type: dropout, rate: 0.1}, {type: dense, units: 10}]"});
  }
}

TEST_CASE("a run of a host beside a pipeline goes on to the bits of an undisturbed one") {
  stop_twice_and_go_on("{type: coarse_split, pipeline: {cuts: [out], micro_batches: 2}}",
                       {unmeasured, "lanes.second={kind: emulated}", "optimizer.clip_norm=0.5"});
}

TEST_CASE("a policy that can't clip gradients says so before anything runs") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const Outcome outcome = zygos_run(
      {"check", "tiny.yaml", "optimizer.clip_norm=1", "policy={type: pipedream, micro_batches: 4}"},
      scratch.path());
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, ContainsSubstring("tiny.yaml") &&
                              ContainsSubstring("policy 'pipedream'") &&
                              ContainsSubstring("clip_norm"));
}

TEST_CASE("speculation on a norm that nobody needs is refused before anything runs") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const Outcome outcome =
      zygos_run({"check", "tiny.yaml", "policy={type: zero_offload, owner: host, speculate: on}"},
                scratch.path());
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, ContainsSubstring("policy 'zero_offload'") &&
                              ContainsSubstring("set optimizer.clip_norm"));
}

TEST_CASE("a schedule of learning rates that can't be is refused where it stands") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const auto refused = [&](const std::string& schedule) {
    const Outcome outcome =
        zygos_run({"check", "tiny.yaml", "optimizer.schedule=" + schedule}, scratch.path());
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK_THAT(refused("{type: cosine, length: 2 epochs, warm_up: 30 steps}"),
             ContainsSubstring("30 steps of warm-up and ends after 30"));
  CHECK_THAT(refused("{type: milestones, at: [9, 3]}"), ContainsSubstring("3 comes after 9"));
  CHECK_THAT(refused("{type: step, every: 10 s}"), ContainsSubstring("'10 s'"));
  CHECK_THAT(refused("{type: cosin, length: 2 epochs}"), ContainsSubstring("cosine"));
  CHECK_THAT(refused("cosine"), ContainsSubstring("length"));
}

TEST_CASE("what was decided is printed as a line for the deck") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());

  const Outcome outcome =
      zygos_run({"train", "tiny.yaml", "policy={type: layer_placement}"}, scratch.path());

  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, ContainsSubstring("policy: {type: layer_placement, cuts: [\"out\"]"));
}

TEST_CASE("a run does not go on with lanes that its decisions do not fit") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  keep_tiny_profile(scratch.path());
  {
    Process process(train_words(words_of("{type: layer_placement}")), scratch.path());
    REQUIRE(wait_for_checkpoints(scratch.path(), 2));
    process.send(SIGTERM);
    CHECK(process.wait().code == 75);
  }

  const Outcome outcome =
      zygos_run(train_words(words_of("{type: layer_placement}",
                                     {"lanes={one: {kind: host}, two: {kind: emulated}}"})),
                scratch.path());

  CHECK(outcome.code == 4);
  CHECK_THAT(outcome.err, ContainsSubstring("lanes"));
  CHECK_THAT(outcome.err, ContainsSubstring("--fresh"));
}

}  // namespace zygos::test::test_resume_policies
