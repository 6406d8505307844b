// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Label smoothing and class weights of a deck's cross-entropy.
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <string>
#include <vector>

namespace zygos::test::test_class_weights {
namespace {

using Catch::Matchers::ContainsSubstring;

const std::string soft =
    "model.loss={type: cross_entropy, label_smoothing: 0.1, class_weights: balanced}";

/// 30 points left, 6 right; 10 each to test.
void write_unbalanced(const std::filesystem::path& directory) {
  const auto table = [](int left, int right) {
    std::string text = "x,side\n";
    for (int i = 0; i < left + right; ++i) {
      const int place = 37 * i % 100;
      text += std::to_string(i < left ? place - 120 : place - 20) +
              (i < left ? "e-2,left\n" : "e-2,right\n");
    }
    return text;
  };
  write_text(directory / "train.csv", table(30, 6));
  write_text(directory / "test.csv", table(10, 10));
  write_text(directory / "tiny.yaml", R"(deck_version: 1
data: {format: csv, train: {file: train.csv}, test: {file: test.csv}, targets: [side]}
model:
  layers: [{type: dense, units: 2}]
  loss: {type: cross_entropy, class_weights: balanced}
optimizer: {type: sgd, learning_rate: 0.5}
lanes: {host: {kind: host}}
policy: single
train: {epochs: 20, batch: 36}
)");
}

}  // namespace

TEST_CASE("smoothed labels and class weights keep strict mode's bits under every split") {
  std::string expected;
  for (const std::string policy :
       {"policy=single", "policy={type: coarse_split, share: 0.375}",
        "policy={type: gpipe, micro_batches: 4}", "policy={type: zero_offload}"}) {
    const Scratch scratch;
    write_tiny_deck(scratch.path());
    const std::string hash = train_unmeasured(
        scratch.path(), {soft, policy, "train.strict=auto", "train.epochs=2"})["weights_xxh64"];
    CAPTURE(policy);
    expected = expected.empty() ? hash : expected;
    CHECK(hash == expected);
  }
}

TEST_CASE("balanced class weights are those of the training set's labels") {
  const Scratch scratch;
  write_unbalanced(scratch.path());

  const auto balanced = train_unmeasured(scratch.path());
  const auto listed = train_unmeasured(
      scratch.path(), {"--fresh", "model.loss={type: cross_entropy, class_weights: [0.6, 3]}"});
  const auto plain = train_unmeasured(scratch.path(), {"--fresh", "model.loss=cross_entropy"});

  CHECK(balanced["weights_xxh64"] == listed["weights_xxh64"]);
  CHECK(balanced["weights_xxh64"] != plain["weights_xxh64"]);
  CHECK(balanced["test_accuracy"] > plain["test_accuracy"]);
}

TEST_CASE("class weights that do not fit the model are refused where they stand") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const Outcome few =
      zygos_run(unmeasured_words({"model.loss={type: cross_entropy, class_weights: [1, 2]}"}),
                scratch.path());
  CHECK(few.code == 2);
  CHECK_THAT(few.err, ContainsSubstring("2 class_weights") && ContainsSubstring("10 outputs"));
  const Outcome word = zygos_run(
      unmeasured_words({"model.loss={type: cross_entropy, class_weights: equal}"}), scratch.path());
  CHECK(word.code == 2);
  CHECK_THAT(word.err, ContainsSubstring("balanced"));
}

TEST_CASE("a run with smoothed labels is predicted with, and not continued with sharp ones") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const std::vector<std::string> some{soft, "train.epochs=1"};
  const auto trained = train_unmeasured(scratch.path(), some);
  const auto evaluated = json_of({"eval", "runs/tiny", "--json"}, scratch.path());
  CHECK(evaluated["test_loss"] == trained["test_loss"]);

  const Outcome other = zygos_run(
      {"resume", "runs/tiny", "model.loss=cross_entropy", "train.epochs=2"}, scratch.path());

  CHECK(other.code == 4);
  CHECK_THAT(other.err, ContainsSubstring("model.loss.label_smoothing: 0.1 -> 0"));
}

}  // namespace zygos::test::test_class_weights
