// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Decks of tests/decks/bad and the files of tests/support/bad_data through the real executable.
#include "process.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

namespace zygos::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> bad_decks() {
  std::vector<fs::path> decks;
  for (const auto& entry : fs::directory_iterator(fs::path(ZYGOS_SOURCE_DIR) / "tests/decks/bad")) {
    if (entry.path().extension() == ".yaml") {
      decks.push_back(entry.path());
    }
  }
  std::sort(decks.begin(), decks.end());
  return decks;
}

}  // namespace

TEST_CASE("every bad deck ends with 2 and findings that name file, line and column") {
  const Scratch scratch;
  const auto decks = bad_decks();
  CHECK(decks.size() >= 60);

  for (const fs::path& deck : decks) {
    const fs::path copy = scratch.path() / deck.filename();
    fs::copy_file(deck, copy);

    const Outcome outcome =
        zygos_run({"check", copy.filename().string(), "--json"}, scratch.path());

    CAPTURE(copy.filename().string(), outcome.err);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, Catch::Matchers::StartsWith(copy.filename().string() + ":"));
    CHECK(nlohmann::json::parse(outcome.out)["error"]["code"] == 2);
  }
}

}  // namespace zygos::test
