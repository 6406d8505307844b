// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Decks that change their training samples at random: `data.augment`.
#include "tiny_run.hpp"

#include "zygos/io/hdf5_dataset.hpp"
#include "zygos/synthetic/glyphs.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace zygos::test::test_augmented_runs {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string augment = "data.augment={flip: horizontal, crop: 3, noise: 0.1}";

std::string hash_of(const std::vector<std::string>& further) {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  return train_unmeasured(scratch.path(), further)["weights_xxh64"];
}

void write_digits(const fs::path& file, std::int64_t first, std::int64_t samples) {
  io::write_hdf5_dataset(file, synthetic::make_glyphs({.samples = samples, .first = first}));
}

/// What `check` has against the tiny deck with these overrides.
std::string refusal_of(const std::vector<std::string>& overrides) {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  std::vector<std::string> words{"check", "tiny.yaml"};
  words.insert(words.end(), overrides.begin(), overrides.end());
  const Outcome outcome = zygos_run(words, scratch.path());
  CAPTURE(overrides, outcome.err);
  CHECK(outcome.code == 2);
  return outcome.err;
}

}  // namespace

TEST_CASE("augmented samples are the same for any number of threads, and not those of the file") {
  const std::vector<std::string> two_epochs{augment, "train.epochs=2"};
  const std::string expected = hash_of(two_epochs);
  CHECK(hash_of({"train.epochs=2"}) != expected);
  for (const char* threads : {"1", "2", "3"}) {
    CAPTURE(threads);
    CHECK(hash_of({augment, "train.epochs=2", "--threads", threads}) == expected);
  }
  CHECK(hash_of({augment, "train.epochs=2", "train.double_buffer=true"}) == expected);
}

TEST_CASE("augmented samples keep strict mode's bits under every split") {
  std::string expected;
  for (const std::string policy :
       {"policy=single", "policy={type: coarse_split, share: 0.375}",
        "policy={type: coarse_split, share: 0.75}", "policy={type: gpipe, micro_batches: 4}"}) {
    const std::string hash = hash_of({augment, policy, "train.strict=auto", "train.epochs=2"});
    CAPTURE(policy);
    expected = expected.empty() ? hash : expected;
    CHECK(hash == expected);
  }
}

TEST_CASE("samples in memory and in their file are augmented to the same bits") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  write_digits(scratch.path() / "train.h5", 0, 480);
  write_digits(scratch.path() / "test.h5", 480, 150);
  const auto run = [&](const std::string& name, const std::string& in_memory) {
    return json_of(
        unmeasured_words({"data={format: hdf5, train: {file: train.h5}, test: {file: test.h5}, "
                          "augment: {flip: both, crop: 3, noise: 0.1}, in_memory: " +
                              in_memory + "}",
                          "train.epochs=3", "--run-dir", name}),
        scratch.path());
  };
  const auto loaded = run("loaded", "true");
  const auto read = run("read", "false");
  CHECK(read["weights_xxh64"] == loaded["weights_xxh64"]);
  CHECK(read["test_loss"] == loaded["test_loss"]);
  CHECK(loaded["data"]["in_memory"] == true);
  CHECK(read["data"]["in_memory"] == false);
  CHECK_FALSE(loaded["data"].contains("prefetch"));
  // Two batches of images as floats, with labels, and one image of bytes.
  CHECK(loaded["data"]["bytes"] == 2 * 32 * (784 * 4 + 4) + 784);
  CHECK(loaded["data"]["waited_s"] > 0.0);
}

TEST_CASE("a run that ends amid an epoch goes on to the bits of one that was not interrupted") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const std::string expected = hash_of({augment, "train.steps=100"});
  train_unmeasured(scratch.path(), {augment, "train.steps=50"});  // an epoch has 15

  const auto resumed =
      json_of({"resume", "runs/tiny", "train.steps=100", "--json", "--unmeasured"}, scratch.path());

  CHECK(resumed["steps"] == 100);
  CHECK(resumed["weights_xxh64"] == expected);
}

TEST_CASE("a run does not go on with other changes of its samples") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  train_unmeasured(scratch.path(), {augment, "train.steps=20"});

  const Outcome other = zygos_run(
      {"resume", "runs/tiny", "train.steps=30", "data.augment.noise=0.2"}, scratch.path());

  CHECK(other.code == 4);
  CHECK_THAT(other.err, ContainsSubstring("data.augment.noise: 0.1 -> 0.2"));
}

TEST_CASE("what is evaluated on is not augmented") {
  // Weights stay where they are, so losses differ by their samples alone.
  const std::vector<std::string> still{"optimizer={type: sgd, learning_rate: 1e-30}",
                                       "train.epochs=1"};
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.end(), still.begin(), still.end());
    return train_unmeasured(scratch.path(), words);
  };
  const auto plain = run({"--run-dir", "plain"});
  const auto augmented = run({augment, "--run-dir", "augmented"});
  CHECK(augmented["test_loss"] == plain["test_loss"]);
  CHECK(augmented["loss"] != plain["loss"]);
  const auto eval = json_of({"eval", "augmented", "--json"}, scratch.path());
  CHECK(eval["test_loss"] == plain["test_loss"]);
}

TEST_CASE("plans, contests and searches for a rate take augmented samples") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  CHECK(json_of({"plan", "tiny.yaml", "--json", augment}, scratch.path())["rows"].size() > 1);
  const auto compare = json_of({"compare", "tiny.yaml", "--policies", "single,coarse_split",
                                "--steps", "12", "--json", augment},
                               scratch.path());
  CHECK(compare["rows"].size() >= 2);
  const std::vector<std::string> search{"find-rate", "tiny.yaml", "--steps", "20", "--json"};
  const auto plain = json_of(search, scratch.path());
  auto words = search;
  words.push_back(augment);
  const auto augmented = json_of(words, scratch.path());
  CHECK(augmented["rows"][0]["loss"] != plain["rows"][0]["loss"]);
}

TEST_CASE("changes that samples do not take are refused before training, each with what to do") {
  CHECK_THAT(refusal_of({"data.augment.crop=28"}),
             ContainsSubstring("a crop of 28 pixels") && ContainsSubstring("allowed are 0 to 27"));
  CHECK_THAT(refusal_of({"data.augment.crop=-1"}),
             ContainsSubstring("'data.augment.crop' must be"));
  CHECK_THAT(refusal_of({"data.augment.noise=-0.5"}),
             ContainsSubstring("'data.augment.noise' must be"));
  CHECK_THAT(refusal_of({"data.augment.flip=sideways"}), ContainsSubstring("horizontal"));
  const std::string tensors =
      "data={format: synthetic, function: invariants, augment: {flip: both}}";
  CHECK_THAT(refusal_of({tensors, "model={layers: [{type: dense, units: 3}], loss: mse}"}),
             ContainsSubstring("flip and crop take images"));
  CHECK_THAT(refusal_of({"data.augment.flip=both",
                         "model.layers=[{type: conv1d, filters: 4, kernel: 3}, {type: dense, "
                         "units: 10}]"}),
             ContainsSubstring("as sequences") && ContainsSubstring("conv1d"));
  CHECK_THAT(refusal_of({"data.augment.flip=both",
                         "model.layers=[{type: gru, units: 4}, {type: dense, units: 10}]"}),
             ContainsSubstring("as sequences") && ContainsSubstring("gru"));
  CHECK_THAT(refusal_of({"data={format: synthetic, function: blobs, augment: {crop: 2}}",
                         "model={layers: [{type: conv2d, filters: 1, kernel: 3, padding: 1}], "
                         "loss: dice}"}),
             ContainsSubstring("belong to places of the image"));
  CHECK_THAT(refusal_of({"data={format: tokens, augment: {noise: 0.1}}"}),
             ContainsSubstring("unknown key 'augment' in 'data' (tokens)"));
  CHECK_THAT(refusal_of({"data={format: power_law_graph, augment: {noise: 0.1}}"}),
             ContainsSubstring("unknown key 'augment' in 'data' (power_law_graph)"));
}

TEST_CASE("torchvision's names are answered with ours") {
  CHECK_THAT(refusal_of({"data.transforms={crop: 4}"}),
             ContainsSubstring("did you mean 'augment'"));
  CHECK_THAT(refusal_of({"data.augment={random_crop: 4}"}),
             ContainsSubstring("did you mean 'crop'"));
  CHECK_THAT(refusal_of({"data.augment={RandomHorizontalFlip: 0.5}"}),
             ContainsSubstring("did you mean 'flip'"));
}

}  // namespace zygos::test::test_augmented_runs
