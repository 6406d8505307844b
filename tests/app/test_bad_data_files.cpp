// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The files of tests/support/bad_data through the real executable.
#include "process.hpp"
#include "support/bad_data.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

namespace zygos::test {
namespace {

namespace fs = std::filesystem;

std::string data_section(const BadData& bad, const fs::path& folder) {
  if (bad.format == BadFormat::idx) {
    return "format: idx\n  train: {images: " + (folder / bad.inputs).string() +
           ", labels: " + (folder / bad.targets).string() + "}";
  }
  return "format: hdf5\n  train: {file: " + (folder / bad.inputs).string() + ", inputs: \"" +
         bad.inputs_dataset + "\", targets: \"" + bad.targets_dataset + "\"}";
}

std::string deck_of(const BadData& bad, const fs::path& folder) {
  const std::string classes =
      bad.classes > 0 ? "\n  classes: " + std::to_string(bad.classes) : std::string();
  return "deck_version: 1\ndata:\n  " + data_section(bad, folder) + classes +
         "\nmodel: {layers: [{type: dense, units: 10}]}\noptimizer: sgd\n"
         "train: {epochs: 1, batch: 1}\n";
}

}  // namespace

TEST_CASE("every bad data file ends with 3 and its own words") {
  const Scratch scratch;
  std::size_t count = 0;

  for (const BadData& bad : write_bad_data(scratch.path())) {
    // A deck has one HDF5 file for both arrays.
    if (bad.format == BadFormat::hdf5 && bad.inputs != bad.targets) {
      continue;
    }
    write_text(scratch.path() / "deck.yaml", deck_of(bad, scratch.path()));

    const Outcome outcome = zygos_run({"check", "deck.yaml", "--json"}, scratch.path());

    CAPTURE(bad.name, bad.message, outcome.err);
    CHECK(outcome.code == 3);
    const nlohmann::json said = nlohmann::json::parse(outcome.out, nullptr, false);
    REQUIRE(said.is_object());
    CHECK(matches(bad, scratch.path(), said["error"]["message"]));
    ++count;
  }
  CHECK(count >= 40);
}

}  // namespace zygos::test
