// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Every deck of tests/decks/bad against the text that stands beside it. To accept new texts, run
// this test once with ZYGOS_ACCEPT_GOLDEN=1 in the environment and read the difference.
#include "sample_tables.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;
using namespace zygos;

namespace {

std::string read_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<fs::path> bad_decks() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator("tests/decks/bad")) {
    if (entry.path().extension() == ".yaml") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string complaint_about(const fs::path& file) {
  try {
    run_spec(deck::Deck::parse(read_text(file), file.filename(), test::sample_schema()));
  } catch (const deck::DeckError& error) {
    CHECK(error.code() == ExitCode::usage);
    CHECK(!error.findings().empty());
    return error.what();
  }
  return "accepted\n";
}

}  // namespace

TEST_CASE("each of the bad decks is refused with its golden text", "[deck]") {
  const bool accept = std::getenv("ZYGOS_ACCEPT_GOLDEN") != nullptr;
  const std::vector<fs::path> files = bad_decks();
  REQUIRE(files.size() >= 60);

  for (const fs::path& file : files) {
    const fs::path golden = fs::path(file).replace_extension(".txt");
    const std::string text = complaint_about(file);
    if (accept) {
      std::ofstream(golden, std::ios::binary) << text;
    }
    INFO(file.string());
    CHECK(text == read_text(golden));
    CHECK(text != "accepted\n");
  }
}
