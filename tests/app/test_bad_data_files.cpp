// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The files of tests/support/bad_data through the real executable.
#include "process.hpp"
#include "support/bad_data.hpp"

#include "zygos/io/hdf5_dataset.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <array>
#include <string>
#include <vector>

namespace zygos::test::test_bad_data_files {
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

TEST_CASE("targets of the other kind than the loss takes are answered with how to store them") {
  const Scratch scratch;
  const fs::path folder = scratch.path();
  const std::array<float, 2> inputs{1, 2};
  const std::array<float, 2> numbers{0.5F, -3};
  const std::array<std::int32_t, 2> integers{7, 3};
  io::Dataset data;
  data.inputs = io::make_array<float>({2, 1}, inputs);
  data.targets = io::make_array<float>({2, 1}, numbers);
  io::write_hdf5_dataset(folder / "numbers.h5", data);
  data.targets = io::make_array<std::int32_t>({2}, integers);
  data.classes = 8;
  io::write_hdf5_dataset(folder / "integers.h5", data);
  write_text(folder / "numbers.csv", "x,y\n1,0.5\n2,-3\n");
  write_text(folder / "texts.csv", "x,y\n1,red\n2,blue\n");
  struct Case {
    std::string format, file, loss, remedy;
  };
  for (const auto& [format, file, loss, remedy] : std::vector<Case>{
           {"hdf5", "integers.h5", "mse", "store targets as floats"},
           {"hdf5", "numbers.h5", "cross_entropy", "store targets as integers"},
           {"hdf5, in_memory: false", "integers.h5", "mse", "store targets as floats"},
           {"hdf5, in_memory: false", "numbers.h5", "cross_entropy", "store targets as integers"},
           {"csv", "numbers.csv", "cross_entropy", "store targets as integers"},
           {"csv", "texts.csv", "mse", "take a loss of labels such as cross_entropy"}}) {
    write_text(folder / "deck.yaml",
               "deck_version: 1\ndata: {format: " + format + ", train: {file: " + file +
                   "}}\nmodel: {layers: [{type: dense, units: 1}], loss: " + loss +
                   "}\noptimizer: sgd\ntrain: {epochs: 1, batch: 1}\n");

    const Outcome outcome = zygos_run({"check", "deck.yaml"}, folder);

    CAPTURE(format, file, outcome.err);
    CHECK(outcome.code == 3);
    CHECK(outcome.err.find(remedy) != std::string::npos);
  }
}

TEST_CASE("a missing file is the deck's mistake, a folder bad data, an unreadable file a failure") {
  const Scratch scratch;
  const fs::path folder = scratch.path();
  fs::create_directory(folder / "folder");
  fs::create_symlink("loop", folder / "loop");
  const auto deck_with = [&](const std::string& data) {
    write_text(folder / "deck.yaml", "deck_version: 1\ndata: {" + data +
                                         "}\nmodel: {layers: [{type: dense, units: 1}]}\n"
                                         "optimizer: sgd\ntrain: {epochs: 1, batch: 1}\n");
  };
  struct Case {
    std::string file;
    int code;
    std::string said;
  };
  for (const auto& [file, code, said] :
       std::vector<Case>{{"none", 2, "there is no file 'none'"},
                         {"folder", 3, "found a directory; name a file in it"},
                         {"/dev/null", 3, "found a pipe, socket or device"},
                         {"loop", 5, "cannot be read"}}) {
    for (const std::string data :
         {"format: csv, train: {file: FILE}", "format: hdf5, train: {file: FILE}",
          "format: npz, train: {file: FILE}", "format: npy, train: {inputs: FILE, targets: FILE}",
          "format: idx, train: {images: FILE, labels: FILE}", "format: text, file: FILE",
          "format: graph, file: FILE"}) {
      std::string named = data;
      for (auto at = named.find("FILE"); at != std::string::npos; at = named.find("FILE")) {
        named.replace(at, 4, file);
      }
      deck_with(named);

      const Outcome outcome = zygos_run({"check", "deck.yaml"}, folder);

      CAPTURE(named, outcome.err);
      CHECK(outcome.code == code);
      CHECK(outcome.err.find(said) != std::string::npos);
    }
  }
}

}  // namespace zygos::test::test_bad_data_files
