// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A small GPT from deck to weights.
#include "process.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace zygos::test::test_sequences {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr const char* deck = R"(deck_version: 1
data: {format: tokens, samples: 2000, test_samples: 100, sequence: 24, vocabulary: 12}
model:
  layers:
    - {type: embedding, vocabulary: 12, units: 32}
    - positions
    - type: repeat
      times: 2
      layers:
        - layer_norm
        - {type: dense, units: 96, flatten: false}
        - {type: causal_attention, heads: 2, dropout: 0.1}
        - {type: add, inputs: [causal_attention1, input], dropout: 0.05}
    - {type: dense, units: 12, flatten: false}
optimizer: {type: adam, learning_rate: 0.01}
lanes:
  one: {kind: emulated, threads: 1}
  two: {kind: emulated, threads: 1}
policy: single
train: {steps: 120, batch: 16, strict: 4, evaluate_every: 120 steps}
checkpoint: {every: never}
)";

/// summary.json of a run.
nlohmann::json summary(const Scratch& scratch, const std::vector<std::string>& overrides) {
  write_text(scratch.path() / "gpt.yaml", deck);
  std::vector<std::string> words{"train", "gpt.yaml", "--quiet"};
  words.insert(words.end(), overrides.begin(), overrides.end());
  const Outcome outcome = zygos_run(words, scratch.path());
  CAPTURE(overrides, outcome.err);
  REQUIRE(outcome.code == 0);
  return nlohmann::json::parse(read_text(scratch.path() / "runs/gpt/summary.json"));
}

}  // namespace

TEST_CASE("A small GPT learns a Markov chain down to its entropy") {
  const Scratch scratch;
  const auto run = summary(scratch, {});

  // 1.213 nats, and half of all tokens are the likeliest: less and more where, of so few, two that
  // may follow are the same.
  CHECK(run["test_loss"] < 1.35);
  CHECK(run["test_loss"] > 1.0);
  CHECK(run["test_accuracy"] > 0.42);
  CHECK(run["test_accuracy"] < 0.65);
}

TEST_CASE("Neither a split by layers nor one by samples changes a bit of a small GPT") {
  const std::vector<std::string> few{"train.steps=6", "train.evaluate_every=never"};
  const auto hash = [&](const std::string& policy) {
    const Scratch scratch;
    auto overrides = few;
    overrides.push_back("policy=" + policy);
    return summary(scratch, overrides)["weights_xxh64"];
  };
  const auto whole = hash("single");

  CHECK(hash("{type: data_parallel}") == whole);
  CHECK(hash("{type: single, micro_batches: 2}") == whole);
  CHECK(hash("{type: gpipe, micro_batches: 4, cuts: [repeat1.1.causal_attention1]}") == whole);
}

TEST_CASE("A text is learned by its words, too") {
  const Scratch scratch;
  std::string text;
  for (int i = 0; i < 400; ++i) {
    text += "the quick brown fox jumps over the lazy dog.\n";
  }
  write_text(scratch.path() / "text.txt", text);

  const auto run =
      summary(scratch, {"data={format: text, file: text.txt, vocabulary: words, sequence: 24}"});

  CHECK(run["test_loss"] < 0.2);
  CHECK(run["test_accuracy"] > 0.9);
}

TEST_CASE("Token ids that a table lacks end a run before it begins") {
  const Scratch scratch;
  write_text(scratch.path() / "gpt.yaml", deck);

  const Outcome ids =
      zygos_run({"check", "gpt.yaml", "model.layers.embedding1.vocabulary=9"}, scratch.path());
  const Outcome classes = zygos_run({"check", "gpt.yaml", "data.vocabulary=13"}, scratch.path());

  CHECK(ids.code == 3);
  CHECK_THAT(ids.err, ContainsSubstring("layer 'embedding1' takes token ids") &&
                          ContainsSubstring("from 0 to 8"));
  CHECK(classes.code == 2);
  CHECK_THAT(classes.err, ContainsSubstring("13 classes"));
}

}  // namespace zygos::test::test_sequences
