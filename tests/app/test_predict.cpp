// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// zygos predict, as people call it.
#include "tiny_run.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace zygos::test_predict {
using namespace zygos::test;
using Catch::Matchers::ContainsSubstring;

namespace fs = std::filesystem;

namespace {

std::vector<std::string> lines_of(const fs::path& file) {
  std::istringstream text(read_text(file));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    lines.push_back(line);
  }
  return lines;
}

constexpr const char* surrogate_deck = R"(deck_version: 1
data: {format: synthetic, function: invariants, samples: 256, test_samples: 64}
model:
  layers:
    - {name: h, type: dense, units: 8, activation: tanh}
    - {name: out, type: dense, units: 3}
  loss: mse
optimizer: adam
lanes: {host: {kind: host}}
policy: single
train: {batch: 32, epochs: 1}
)";

constexpr std::size_t width = 6;

/// In runs/surrogate.
void train_surrogate(const fs::path& folder) {
  write_text(folder / "surrogate.yaml", surrogate_deck);
  json_of({"train", "surrogate.yaml", "--json"}, folder);
}

Outcome refused(const fs::path& folder, const std::string& input,
                const std::vector<std::string>& further = {}) {
  std::vector<std::string> words{"predict", "runs/surrogate", "--input",
                                 input,     "--output",       "out.csv"};
  words.insert(words.end(), further.begin(), further.end());
  Outcome outcome = zygos_run(words, folder);
  CHECK_FALSE(fs::exists(folder / "out.csv"));
  return outcome;
}

}  // namespace

TEST_CASE("predict names the classes that eval counts, in every format") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  train_unmeasured(scratch.path(), {"train.epochs=2"});
  const auto evaluated = json_of({"eval", "runs/tiny", "--json"}, scratch.path());

  const auto predicted =
      json_of({"predict", "runs/tiny", "--output", "out.csv", "--json"}, scratch.path());

  CHECK(predicted["samples"] == 160);
  CHECK(predicted["step"] == evaluated["step"]);
  CHECK(predicted["test_accuracy"] == evaluated["test_accuracy"]);
  CHECK(predicted["batch"] == 32);
  const auto lines = lines_of(scratch.path() / "out.csv");
  REQUIRE(lines.size() == 161);
  CHECK(lines[0].starts_with("prediction0,prediction1,"));
  CHECK(lines[0].ends_with("prediction9,class"));
  CHECK(std::ranges::count(lines[77], ',') == 10);

  json_of({"predict", "tiny.yaml", "--output", "classes.csv", "--classes", "--json"},
          scratch.path());
  const auto classes = lines_of(scratch.path() / "classes.csv");
  REQUIRE(classes.size() == 161);
  CHECK(classes[0] == "class");
  for (std::size_t i = 1; i < lines.size(); ++i) {
    CHECK(lines[i].substr(lines[i].rfind(',') + 1) == classes[i]);
  }

  json_of({"predict", "runs/tiny", "--output", "out.h5", "--json"}, scratch.path());
  json_of({"predict", "runs/tiny", "--output", "out.npy", "--json"}, scratch.path());
  CHECK_THAT(read_text(scratch.path() / "out.npy").substr(0, 128),
             ContainsSubstring("'<f4'") && ContainsSubstring("(160,10,)"));
  CHECK(fs::file_size(scratch.path() / "out.npy") == 128 + 160 * 10 * 4);
  // What was written is read again: ten logits do not fit a model of images.
  const Outcome narrow = zygos_run({"predict", "runs/tiny", "--input", "out.h5", "--dataset",
                                    "prediction", "--output", "again.csv"},
                                   scratch.path());
  CHECK(narrow.code == 3);
  CHECK_THAT(narrow.err, ContainsSubstring("out.h5: found 10 values per sample"));
}

TEST_CASE(
    "predict writes probabilities that are the softmax of the logits, with the same classes") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  train_unmeasured(scratch.path(), {"train.epochs=2"});
  json_of({"predict", "runs/tiny", "--output", "logits.csv", "--json"}, scratch.path());

  json_of({"predict", "runs/tiny", "--output", "shares.csv", "--probabilities", "--json"},
          scratch.path());

  const auto numbers = [](const std::string& line) {
    std::vector<double> all;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) {
      all.push_back(std::stod(cell));
    }
    return all;
  };
  const auto logits = lines_of(scratch.path() / "logits.csv");
  const auto shares = lines_of(scratch.path() / "shares.csv");
  REQUIRE(shares.size() == 161);
  CHECK(shares[0].starts_with("probability0,probability1,"));
  CHECK(shares[0].ends_with("probability9,class"));
  for (std::size_t i = 1; i < shares.size(); ++i) {
    const auto from = numbers(logits[i]);
    const auto to = numbers(shares[i]);
    REQUIRE(to.size() == 11);
    double sum = 0.0;
    for (std::size_t k = 0; k < 10; ++k) {
      sum += std::exp(from[k]);
    }
    for (std::size_t k = 0; k < 10; ++k) {
      CHECK(std::abs(to[k] - std::exp(from[k]) / sum) < 1e-6);
    }
    CHECK(to[10] == from[10]);
  }
  const Outcome both =
      zygos_run({"predict", "runs/tiny", "--output", "both.csv", "--classes", "--probabilities"},
                scratch.path());
  CHECK(both.code == 2);
  CHECK_FALSE(fs::exists(scratch.path() / "both.csv"));
}

TEST_CASE("predict has the accuracy of eval on MNIST") {
  const Scratch scratch;
  const std::string deck = (source_folder() / "inputs/mnist_mlp.yaml").string();
  json_of({"train", deck, "--run-dir", "run", "train.epochs=1", "--unmeasured", "--json"},
          scratch.path());
  const auto evaluated = json_of({"eval", "run", "--json"}, scratch.path());
  const auto predicted =
      json_of({"predict", "run", "--output", "mnist.npy", "--classes", "--json"}, scratch.path());
  CHECK(evaluated["test_accuracy"] > 0.8);
  CHECK(predicted["test_accuracy"] == evaluated["test_accuracy"]);
  CHECK(predicted["samples"] == 10000);
  CHECK(fs::file_size(scratch.path() / "mnist.npy") == 128 + 10000 * 4);
}

TEST_CASE("predict reads samples from a file, whatever the size of the batch") {
  const Scratch scratch;
  train_surrogate(scratch.path());
  std::string text;
  for (int i = 0; i < 700; ++i) {
    for (std::size_t k = 0; k < width; ++k) {
      text += (k == 0 ? "" : ",") + std::to_string(0.001 * i - 0.1 * static_cast<double>(k));
    }
    text += "\n";
  }
  write_text(scratch.path() / "in.csv", text);
  const auto predict = [&](const std::string& output, const std::vector<std::string>& further) {
    std::vector<std::string> words{"predict",  "runs/surrogate", "--input", "in.csv",
                                   "--output", output,           "--json"};
    words.insert(words.end(), further.begin(), further.end());
    return json_of(words, scratch.path());
  };
  CHECK(predict("a.csv", {})["samples"] == 700);
  CHECK(predict("b.csv", {"--threads", "1"})["threads"] == 1);
  CHECK(predict("c.csv", {"--batch", "700"})["batch"] == 700);
  const auto expected = lines_of(scratch.path() / "a.csv");
  REQUIRE(expected.size() == 701);
  CHECK(lines_of(scratch.path() / "b.csv") == expected);
  const auto large = lines_of(scratch.path() / "c.csv");
  for (std::size_t i = 1; i < expected.size(); ++i) {
    CHECK(std::abs(std::stod(large[i]) - std::stod(expected[i])) < 1e-5);
  }
  // The deck's scale is applied to files, too.
  predict("d.csv", {"data.scale=0.5"});
  CHECK(lines_of(scratch.path() / "d.csv")[600] != expected[600]);
}

TEST_CASE("predict says what is wrong with its input and writes nothing") {
  const Scratch scratch;
  train_surrogate(scratch.path());
  const fs::path& folder = scratch.path();
  std::string good;
  for (std::size_t k = 0; k < width; ++k) {
    good += k == 0 ? "0.5" : ",0.5";
  }

  write_text(folder / "wide.csv", good + ",1\n");
  const Outcome wide = refused(folder, "wide.csv");
  CHECK(wide.code == 3);
  CHECK_THAT(wide.err, ContainsSubstring("wide.csv: found " + std::to_string(width + 1) +
                                         " values per sample"));

  const Outcome missing = refused(folder, "none.csv");
  CHECK(missing.code == 5);
  CHECK_THAT(missing.err, ContainsSubstring("none.csv"));

  write_text(folder / "nan.csv", good + "\nnan" + good.substr(3) + "\n");
  const Outcome poisoned = refused(folder, "nan.csv");
  CHECK(poisoned.code == 3);
  CHECK_THAT(poisoned.err, ContainsSubstring("nan.csv:2: column 1: 'nan' is not finite"));

  write_text(folder / "good.txt", good + "\n");
  CHECK(refused(folder, "good.txt").code == 2);

  write_text(folder / "good.csv", good + "\n");
  const Outcome classes = refused(folder, "good.csv", {"--classes"});
  CHECK(classes.code == 2);
  CHECK_THAT(classes.err, ContainsSubstring("loss 'mse' tells no classes from each other"));

  const Outcome shares = refused(folder, "good.csv", {"--probabilities"});
  CHECK(shares.code == 2);
  CHECK_THAT(shares.err, ContainsSubstring("but the loss is 'mse'"));

  CHECK(zygos_run({"predict", "runs/surrogate", "--input", "good.csv"}, folder).code == 2);
  CHECK(zygos_run({"predict", "runs/surrogate", "--input", "good.csv", "--output", "no/out.csv"},
                  folder)
            .code == 5);
  write_text(folder / "fresh.yaml", surrogate_deck);
  const Outcome untrained =
      zygos_run({"predict", "fresh.yaml", "--input", "good.csv", "--output", "out.csv"}, folder);
  CHECK(untrained.code == 4);
  CHECK_THAT(untrained.err, ContainsSubstring("train first"));
}

}  // namespace zygos::test_predict
