// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Every deck of tests/decks/bad against the text that stands beside it. To accept new texts (a new
// layer lengthens a list), run this once with ZYGOS_ACCEPT_GOLDEN=1 and read the difference.
#include "process.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace zygos::test::test_bad_decks {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> bad_decks() {
  std::vector<fs::path> decks;
  for (const auto& entry : fs::directory_iterator(source_folder() / "tests/decks/bad")) {
    if (entry.path().extension() == ".yaml") {
      decks.push_back(entry.path());
    }
  }
  std::sort(decks.begin(), decks.end());
  return decks;
}

}  // namespace

TEST_CASE("every bad deck ends with 2 and exactly the findings it should have") {
  const Scratch scratch;
  const bool accept = std::getenv("ZYGOS_ACCEPT_GOLDEN") != nullptr;
  const auto decks = bad_decks();
  CHECK(decks.size() >= 60);
  fs::copy(source_folder() / "tests/decks/bad/parts", scratch.path() / "parts",
           fs::copy_options::recursive);

  for (const fs::path& deck : decks) {
    const fs::path golden = fs::path(deck).replace_extension(".txt");
    const fs::path copy = scratch.path() / deck.filename();
    fs::copy_file(deck, copy);

    const Outcome outcome =
        zygos_run({"check", copy.filename().string(), "--json"}, scratch.path());

    if (accept && outcome.code == 2) {
      write_text(golden, outcome.err);
    }

    CAPTURE(copy.filename().string(), outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.err == read_text(golden));
    CHECK(nlohmann::json::parse(outcome.out)["error"]["code"] == 2);
  }
}

}  // namespace zygos::test::test_bad_decks
