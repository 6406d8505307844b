// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Data of one's own: tables and NumPy files, split and normalised by the deck alone.
#include "tiny_run.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

using namespace zygos::test;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

namespace fs = std::filesystem;

namespace {

constexpr const char* plane_deck = R"(deck_version: 1
data:
  format: csv
  train: {file: plane.csv}
  targets: [force]
  normalise: standard
  validation: 0.25
model:
  layers:
    - {name: h, type: dense, units: 16, activation: tanh}
    - {name: out, type: dense, units: 1}
  loss: mse
optimizer: {type: adam, learning_rate: 0.01}
lanes: {host: {kind: host, threads: 1}}
policy: single
train: {batch: 16, epochs: 150, report_every: never}
checkpoint: {every: 40 epochs}
)";

double force_at(double load, double length) { return 5000.0 + 30.0 * load - 2000.0 * length; }

/// Numbers that no network learns as they are: force in thousands, length in thousandths.
void write_plane(const fs::path& folder) {
  std::string text = "load,force,length\n";
  for (int i = 0; i < 160; ++i) {
    const double load = 100.0 + i % 16;
    const double length = 0.001 * (i / 16);
    text += fmt::format("{},{},{}\n", load, force_at(load, length), length);
  }
  write_text(folder / "plane.csv", text);
  write_text(folder / "plane.yaml", plane_deck);
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::istringstream text(read_text(file));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

TEST_CASE("A table is learned in its own units, and predictions come back in them") {
  const Scratch scratch;
  const fs::path& folder = scratch.path();
  write_plane(folder);
  json_of({"train", "plane.yaml", "--json"}, folder);
  const auto evaluated = json_of({"eval", "runs/plane", "--json"}, folder);
  CHECK(evaluated["samples"] == 40);
  CHECK(evaluated["test_loss"] < 0.01);  // of standardised targets
  CHECK(evaluated["metrics"]["r2"] > 0.99);
  CHECK(evaluated["metrics"]["rmse"] < 15.0);  // of 138
  CHECK(evaluated["metrics"]["rmse"].get<double>() ==
        Approx(std::sqrt(evaluated["test_loss"].get<double>()) * 138.6).epsilon(0.1));

  // Columns in another order, among others and without targets.
  write_text(folder / "new.csv", "remark,length,load\nfirst,0.004,108\nsecond,0.002,112\n");
  json_of({"predict", "runs/plane", "--input", "new.csv", "--output", "out.csv", "--json"}, folder);
  const auto lines = lines_of(folder / "out.csv");
  REQUIRE(lines.size() == 3);
  CHECK(std::stod(lines[1]) == Approx(force_at(108, 0.004)).margin(30.0));
  CHECK(std::stod(lines[2]) == Approx(force_at(112, 0.002)).margin(30.0));
  // Without names by position, as in training: load, length.
  write_text(folder / "bare.csv", "108,0.004\n");
  json_of({"predict", "runs/plane", "--input", "bare.csv", "--output", "bare_out.csv", "--json"},
          folder);
  CHECK(lines_of(folder / "bare_out.csv")[1] == lines[1]);
  write_text(folder / "other.csv", "load,width\n108,1\n");
  const Outcome other = zygos_run(
      {"predict", "runs/plane", "--input", "other.csv", "--output", "other_out.csv"}, folder);
  CHECK(other.code == 3);
  CHECK_THAT(other.err, ContainsSubstring("there is no column 'length'"));

  // An exported file knows the units as well.
  CHECK(zygos_run({"export", "runs/plane", "--output", "plane.safetensors"}, folder).code == 0);
  json_of({"predict", "plane.safetensors", "--input", "new.csv", "--output", "again.csv", "--json"},
          folder);
  CHECK(lines_of(folder / "again.csv") == lines);
}

TEST_CASE("A split and normalised run is resumed to the same bits, and with no other split") {
  const Scratch scratch;
  const fs::path& folder = scratch.path();
  write_plane(folder);
  const auto whole = json_of({"train", "plane.yaml", "--run-dir", "whole", "--json"}, folder);
  json_of({"train", "plane.yaml", "train.epochs=40", "--json"}, folder);
  const Outcome other = zygos_run({"resume", "runs/plane", "data.validation=0.5"}, folder);
  CHECK(other.code == 4);
  CHECK_THAT(other.err, ContainsSubstring("data.validation: 0.25 -> 0.5"));
  const auto resumed = json_of({"resume", "runs/plane", "train.epochs=150", "--json"}, folder);
  CHECK(resumed["weights_xxh64"] == whole["weights_xxh64"]);
  CHECK(resumed["test_loss"] == whole["test_loss"]);
}

TEST_CASE("Training evaluates the validation part, eval the test set") {
  const Scratch scratch;
  const fs::path& folder = scratch.path();
  write_plane(folder);
  const std::vector<std::string> test{"data.test={file: plane.csv}"};
  const Outcome run = zygos_run({"train", "plane.yaml", test[0], "train.epochs=2"}, folder);
  CHECK(run.code == 0);
  CHECK_THAT(run.out + run.err, ContainsSubstring("validation loss"));
  CHECK(json_of({"eval", "runs/plane", "--json"}, folder)["samples"] == 160);
}

TEST_CASE("Species have their names in predictions and in the table of eval") {
  const Scratch scratch;
  const fs::path& folder = scratch.path();
  const std::string deck = (source_folder() / "inputs/iris.yaml").string();
  const auto trained = json_of({"train", deck, "--run-dir", "run", "--json"}, folder);
  CHECK(trained["test_accuracy"] > 0.9);
  const auto evaluated = json_of({"eval", "run", "--json"}, folder);
  CHECK(evaluated["samples"] == 30);
  CHECK(evaluated["metrics"]["classes"][2]["name"] == "virginica");
  json_of({"predict", "run", "--input", (source_folder() / "inputs/data/iris/iris.csv").string(),
           "--output", "out.csv", "--classes", "--json"},
          folder);
  const auto lines = lines_of(folder / "out.csv");
  REQUIRE(lines.size() == 151);
  CHECK(lines[1] == "setosa");
  CHECK(lines[150] == "virginica");
}
