// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The decks that ship.
#include "process.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace zygos::test::test_inputs {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> decks() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(source_folder() / "inputs")) {
    if (entry.path().extension() == ".yaml") {
      found.push_back(entry.path());
    }
  }
  std::ranges::sort(found);
  return found;
}

/// Runs COMMAND DECK and further words in `directory`.
Outcome run_deck(const std::string& command, const fs::path& deck,
                 const std::vector<std::string>& further, const fs::path& directory) {
  std::vector<std::string> words{command, deck.string()};
  words.insert(words.end(), further.begin(), further.end());
  // CIFAR-10 does not ship: its decks run on drawn digits, as they say.
  if (deck.stem().string().starts_with("cifar10")) {
    words.emplace_back("data={format: glyphs, size: 32}");
  }
  // Nor does Shakespeare, and sequences of 1,000 take too long here.
  if (deck.stem().string().starts_with("gpt")) {
    words.emplace_back("data={format: tokens, sequence: 64, vocabulary: 65, samples: 100}");
  }
  // With images a twelfth as large AlexNet's layers are the same and take no minutes.
  if (deck.stem() == "alexnet_shape") {
    words.emplace_back("data.size=67");
  }
  // Data sets that are one graph have one sample.
  if (deck.stem() == "gcn" || deck.stem() == "gnn_mlp") {
    words.emplace_back("train.batch=1");
  }
  return zygos_run(words, directory);
}

}  // namespace

TEST_CASE("Every deck that ships is good") {
  const Scratch scratch;
  REQUIRE(decks().size() > 10);
  for (const fs::path& deck : decks()) {
    const Outcome outcome = run_deck("check", deck, {}, scratch.path());
    CAPTURE(deck.filename().string(), outcome.err);
    CHECK(outcome.code == 0);
  }
}

// On one lane and with small batches: how a policy does it is tested with the policies.
TEST_CASE("The model of every deck that ships trains on its data") {
  const Scratch scratch;
  for (const fs::path& deck : decks()) {
    const Outcome outcome = run_deck(
        "bench", deck,
        {"--steps", "1", "--warmup", "1", "--json", "--quiet", "train.batch=16", "policy=single"},
        scratch.path());
    CAPTURE(deck.filename().string(), outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(nlohmann::json::parse(outcome.out)["steps"] == 1);
  }
}

}  // namespace zygos::test::test_inputs
