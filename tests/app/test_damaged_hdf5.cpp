// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that end HDF5 1.10.8 by a signal; later versions refuse them.
#include "app/run/hdf5_probe.hpp"
#include "process.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::test {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

fs::path damaged(const std::string& name) {
  return source_folder() / "tests/reference/damaged" / (name + ".h5");
}

}  // namespace

TEST_CASE("An HDF5 file that ends the HDF5 library ends a command with a data error") {
  const Scratch scratch;
  for (const std::string name : {"heap", "symbol_table"}) {
    write_text(scratch.path() / "deck.yaml",
               "deck_version: 1\ndata: {format: hdf5, train: {file: " + damaged(name).string() +
                   ", inputs: x, targets: x}}\nmodel: {layers: [{type: dense, units: 6}], loss: "
                   "mse}\noptimizer: sgd\ntrain: {epochs: 1, batch: 1}\n");
    for (const std::string command : {"check", "train"}) {
      const Outcome outcome = zygos_run({command, "deck.yaml"}, scratch.path());
      CAPTURE(name, command, outcome.err);
      CHECK(outcome.code == 3);
      CHECK_THAT(outcome.err, ContainsSubstring(name + ".h5"));
      CHECK_THAT(outcome.err, ContainsSubstring("damage"));
    }
  }
}

TEST_CASE("A graph in such a file is a data error, too") {
  const Scratch scratch;
  write_text(scratch.path() / "deck.yaml",
             "deck_version: 1\ndata: {format: graph, file: " + damaged("heap").string() +
                 "}\nmodel: {layers: [{type: graph_conv, units: 3}], loss: cross_entropy}\n"
                 "optimizer: sgd\ntrain: {epochs: 1, batch: 1}\n");
  const Outcome outcome = zygos_run({"check", "deck.yaml"}, scratch.path());
  CAPTURE(outcome.err);
  CHECK(outcome.code == 3);
}

TEST_CASE("Predictions from such a file end with a data error, too") {
  const Scratch scratch;
  write_text(scratch.path() / "deck.yaml",
             "deck_version: 1\ndata: {format: glyphs, samples: 60}\n"
             "model: {layers: [{type: dense, units: 10}], loss: cross_entropy}\noptimizer: sgd\n"
             "train: {epochs: 1, batch: 10}\n");
  REQUIRE(zygos_run({"train", "deck.yaml", "--run-dir", "run"}, scratch.path()).code == 0);

  const Outcome outcome = zygos_run({"predict", "run", "--input", damaged("heap").string(),
                                     "--dataset", "x", "--output", "out.csv"},
                                    scratch.path());

  CAPTURE(outcome.err);
  CHECK(outcome.code == 3);
  CHECK_THAT(outcome.err, ContainsSubstring("heap.h5"));
}

}  // namespace zygos::test
