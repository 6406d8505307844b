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

namespace zygos::test {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> decks() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(fs::path(ZYGOS_SOURCE_DIR) / "inputs")) {
    if (entry.path().extension() == ".yaml") {
      found.push_back(entry.path());
    }
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

// On one lane and with small batches: how a policy does it is tested with the policies.
TEST_CASE("The model of every deck that ships trains on its data") {
  const Scratch scratch;
  REQUIRE(decks().size() > 10);
  for (const fs::path& deck : decks()) {
    CAPTURE(deck.filename().string());
    // CIFAR-10 does not ship: its decks run on drawn digits as they say.
    const bool cifar = deck.stem().string().starts_with("cifar10");
    std::vector<std::string> words{
        "bench",   deck.string(),    "--steps",      "1", "--warmup", "1", "--json",
        "--quiet", "train.batch=16", "policy=single"};
    if (cifar) {
      words.emplace_back("data={format: glyphs, size: 32}");
    }
    const Outcome outcome = zygos_run(words, scratch.path());
    CAPTURE(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(nlohmann::json::parse(outcome.out)["steps"] == 1);
  }
}

}  // namespace zygos::test
