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

namespace zygos::test_own_data {
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
  CHECK(evaluated["evaluated_on"] == "validation");
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
  const auto evaluated = json_of({"eval", "runs/plane", "--json"}, folder);
  CHECK(evaluated["samples"] == 160);
  CHECK(evaluated["evaluated_on"] == "test");
  CHECK(nlohmann::json::parse(read_text(folder / "runs/plane/summary.json"))["evaluated_on"] ==
        "validation");
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

TEST_CASE("Training ends when evaluations get no better, at the same step after a resume") {
  const Scratch scratch;
  const fs::path& folder = scratch.path();
  write_plane(folder);
  // A rate that is far too large gets nowhere.
  const std::vector<std::string> words{"train",
                                       "plane.yaml",
                                       "--json",
                                       "optimizer.learning_rate=0.3",
                                       "train.patience=4",
                                       "train.epochs=2000",
                                       "checkpoint.every=1 epochs"};
  std::vector<std::string> whole = words;
  whole.insert(whole.end(), {"--run-dir", "whole"});
  const auto stopped = json_of(whole, folder);
  CHECK(stopped["steps"] < 2000 * 8);
  CHECK(stopped["steps"].get<int>() % 8 == 0);
  // Stopped by hand two epochs before, it ends where the other did.
  const auto last_steps = stopped["steps"].get<int>();
  std::vector<std::string> part = words;
  part[5] = "train.epochs=" + std::to_string(last_steps / 8 - 2);
  json_of(part, folder);
  const auto resumed = json_of({"resume", "runs/plane", "train.epochs=2000", "--json"}, folder);
  CHECK(resumed["steps"] == last_steps);
  CHECK(resumed["weights_xxh64"] == stopped["weights_xxh64"]);
  CHECK(zygos_run({"eval", "whole"}, folder).code == 0);
  const Outcome none =
      zygos_run({"train", "plane.yaml", "train.patience=3", "data.validation=0"}, folder);
  CHECK(none.code == 2);
  CHECK_THAT(none.err, ContainsSubstring("there is no data to evaluate on"));
}

TEST_CASE("Metrics of the deck are told by every evaluation, in the targets' units") {
  const Scratch scratch;
  const fs::path& folder = scratch.path();
  write_plane(folder);
  const Outcome run =
      zygos_run({"train", "plane.yaml", "train.metrics=[mae, r2]", "train.epochs=100"}, folder);
  CHECK(run.code == 0);
  const auto evaluated = json_of({"eval", "runs/plane", "--json"}, folder);
  const auto lines = lines_of(folder / "runs/plane/metrics.jsonl");
  nlohmann::json last;
  for (const std::string& line : lines) {
    const auto object = nlohmann::json::parse(line);
    last = object["kind"] == "test" ? object : last;
  }
  CHECK(last["test_mae"].get<double>() ==
        Approx(evaluated["metrics"]["mae"].get<double>()).epsilon(1e-4));
  CHECK(last["test_r2"].get<double>() ==
        Approx(evaluated["metrics"]["r2"].get<double>()).epsilon(1e-4));
  const Outcome unfit =
      zygos_run({"train", "plane.yaml", "--fresh", "train.metrics=[top5]"}, folder);
  CHECK(unfit.code == 2);
  CHECK_THAT(unfit.err, ContainsSubstring("'top5' is a metric of labels"));
}

}  // namespace zygos::test_own_data
