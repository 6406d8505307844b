// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "messages.hpp"
#include "sample_tables.hpp"

#include "zygos/deck/deck.hpp"

#include <catch2/catch_test_macros.hpp>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace zygos::test_includes {
using deck::Deck;
using test::Lines;

namespace fs = std::filesystem;

namespace {

/// Files in a folder of their own.
class Files {
 public:
  Files() : folder_(fs::temp_directory_path() / ("zygos_includes_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_ / "common");
    add("common/base.yaml", test::sample_deck);
  }
  ~Files() { fs::remove_all(folder_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  fs::path add(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  const fs::path& folder() const { return folder_; }

  Deck load(const std::string& text, const std::vector<std::string>& overrides = {}) const {
    return Deck::load(add("deck.yaml", text), test::sample_schema(), overrides);
  }

  /// "file:line:column message; hint", the files without the folder.
  Lines refused(const std::string& text, const std::vector<std::string>& overrides = {}) const {
    Lines lines;
    try {
      load(text, overrides);
    } catch (const deck::DeckError& error) {
      for (const deck::Finding& finding : error.findings()) {
        std::string line = finding.file + ":" + std::to_string(finding.position.line) + ":" +
                           std::to_string(finding.position.column) + " " + finding.message +
                           (finding.hint.empty() ? "" : "; " + finding.hint);
        const std::string folder = folder_.string() + "/";
        for (auto at = line.find(folder); at != std::string::npos; at = line.find(folder)) {
          line.erase(at, folder.size());
        }
        lines.push_back(line);
      }
    }
    return lines;
  }

 private:
  fs::path folder_;
};

}  // namespace

TEST_CASE("a deck lies over what it includes, key by key", "[deck]") {
  const Files files;

  const deck::Section root = files
                                 .load(
                                     "include: common/base.yaml\ntrain: {batch: 7}\nseed: 3\n"
                                     "model: {layers: [{type: dense, units: 5}]}\n")
                                 .root();

  CHECK(root.section("train").integer("batch") == 7);
  CHECK(root.section("train").integer("epochs") == 1);
  CHECK(root.integer("seed") == 3);
  CHECK(root.text("name") == "deck");
  REQUIRE(root.section("model").sections("layers").size() == 1);
  CHECK(root.section("model").sections("layers")[0].integer("units") == 5);
  CHECK(root.section("data").integer("samples") == 200);
}

TEST_CASE("of several included files the later ones lie above the earlier ones", "[deck]") {
  const Files files;
  files.add("common/a.yaml", "seed: 1\nprecision: float64\n");
  files.add("common/b.yaml", "include: base.yaml\nseed: 2\n");

  const deck::Section root = files.load("include: [common/a.yaml, common/b.yaml]\n").root();

  CHECK(root.integer("seed") == 2);
  CHECK(root.text("precision") == "float64");
  CHECK(root.section("train").integer("batch") == 20);
}

TEST_CASE("a section of another keyword replaces the one that is included", "[deck]") {
  const Files files;
  const auto optimizer = [&](const std::string& text) {
    return files.load("include: common/base.yaml\n" + text).root().section("optimizer");
  };

  CHECK(optimizer("optimizer: {type: adam, beta1: 0.8}\n").real("learning_rate") == 0.001);
  CHECK(optimizer("optimizer: {momentum: 0.5}\n").real("learning_rate") == 0.1);
  CHECK(optimizer("optimizer: {type: sgd, momentum: 0.5}\n").real("learning_rate") == 0.1);
  CHECK(optimizer("optimizer: sgd\n").real("learning_rate") == 0.01);
}

TEST_CASE("a bare keyword below takes keys from above, in either order", "[deck]") {
  const Files files;
  files.add("common/bare.yaml", "include: base.yaml\noptimizer: adam\n");
  files.add("common/rate.yaml", "optimizer: {learning_rate: 0.5}\n");

  const deck::Section above =
      files.load("include: common/bare.yaml\noptimizer: {beta1: 0.5}\n").root();
  const deck::Section below = files.load("include: [common/base.yaml, common/rate.yaml]\n").root();

  CHECK(above.section("optimizer").text("type") == "adam");
  CHECK(above.section("optimizer").real("beta1") == 0.5);
  CHECK(below.section("optimizer").text("type") == "sgd");
  CHECK(below.section("optimizer").real("learning_rate") == 0.5);
}

TEST_CASE("a written null takes a key away, and keys drop what they exclude", "[deck]") {
  const Files files;
  files.add("common/lanes.yaml",
            "include: base.yaml\nlanes: {host: {kind: host}, other: {kind: emulated}}\n");

  const deck::Section root =
      files.load("include: common/lanes.yaml\nlanes: {other: null}\ntrain: {steps: 9}\n").root();

  CHECK(root.sections("lanes").size() == 1);
  CHECK(root.section("train").integer("steps") == 9);
  CHECK_FALSE(root.section("train").has("epochs"));
  CHECK(files.refused("include: common/lanes.yaml\nlanes:\n  other:\n") ==
        Lines{"deck.yaml:3:3 'lanes.other' must be a section, found nothing"});
}

TEST_CASE("relative paths start at the folder of the file that gives them", "[deck]") {
  const Files files;
  files.add("common/run.yaml", "include: base.yaml\nrun_dir: here\n");
  files.add("common/free.yaml", "include: base.yaml\nrun_dir: ${where}/x\n");
  const auto run_dir = [&](const std::string& text, const std::vector<std::string>& overrides) {
    return files.load(text, overrides).root().path("run_dir");
  };

  CHECK(run_dir("include: common/run.yaml\n", {}) == files.folder() / "common/here");
  CHECK(run_dir("include: common/run.yaml\nrun_dir: there\n", {}) == files.folder() / "there");
  CHECK(run_dir("include: common/run.yaml\n", {"run_dir=there"}) == files.folder() / "there");
  CHECK(run_dir("include: common/free.yaml\nvariables: {where: mine}\n", {}) ==
        files.folder() / "mine/x");
}

TEST_CASE("a fault is reported where it stands, with its line", "[deck]") {
  const Files files;
  files.add("common/bad.yaml", "include: base.yaml\ntrain:\n  bacth: 3\nseed: -1\n");

  CHECK(files.refused("include: common/bad.yaml\nprecision: float16\n", {"train.steps=x"}) ==
        Lines{"deck.yaml:2:12 'precision' must be one of float32, float64, bf16, tf32, found "
              "'float16'; "
              "did you mean 'float32'?",
              "common/bad.yaml:3:3 unknown key 'bacth' in 'train'; did you mean 'batch'?",
              "common/bad.yaml:4:7 'seed' must be at least 0, found '-1'",
              "<command line>:1:13 'train.steps' must be an integer, found 'x'"});
  try {
    files.load("include: common/bad.yaml\n");
    FAIL("accepted");
  } catch (const deck::DeckError& error) {
    CHECK(std::string(error.what()).find("\n 3 |   bacth: 3\n   |   ^~~~~\n") != std::string::npos);
  }
}

TEST_CASE("what several keys together show is reported in the included file", "[deck]") {
  const Files files;
  files.add("common/input.yaml",
            "include: base.yaml\nmodel:\n  layers:\n    - {type: relu, name: a, inputs: [b]}\n");
  const Deck deck = files.load("include: common/base.yaml\n");

  CHECK(deck.findings().empty());
  try {
    static_cast<void>(deck::run_spec(files.load("include: common/input.yaml\n")));
    FAIL("accepted");
  } catch (const deck::DeckError& error) {
    CHECK(error.findings()[0].file == (files.folder() / "common/input.yaml").string());
    CHECK(error.findings()[0].position.line == 4);
  }
}

TEST_CASE("files that can't be included are refused with the files between", "[deck]") {
  const Files files;
  files.add("common/round.yaml", "include: ../deck.yaml\n");
  files.add("common/far.yaml", "include: nowhere.yaml\n");
  files.add("common/empty.yaml", "# nothing\n");
  files.add("common/list.yaml", "- a\n");
  files.add("common/broken.yaml", "a: [1\n");
  const std::string start = "paths start at the folder of the file that includes";

  CHECK(files.refused("include: nowhere.yaml\n") ==
        Lines{"deck.yaml:1:10 can't read the included file 'nowhere.yaml': there is no such file, "
              "or it may not be read; " +
              start});
  CHECK(files.refused("include: common/far.yaml\n") ==
        Lines{"common/far.yaml:1:10 can't read the included file 'common/nowhere.yaml': there is "
              "no such file, or it may not be read: deck.yaml includes common/far.yaml, which "
              "includes common/nowhere.yaml; " +
              start});
  CHECK(files.refused("include: common\n").size() == 1);
  CHECK(files.refused("include: common/round.yaml\n") ==
        Lines{"common/round.yaml:1:10 'deck.yaml' includes itself: deck.yaml includes "
              "common/round.yaml, which includes deck.yaml; take one of these includes out"});
  CHECK(files.refused("include: deck.yaml\n").size() == 1);
  CHECK(files.refused("include: common/empty.yaml\n") ==
        Lines{"deck.yaml:1:10 the included file 'common/empty.yaml' is empty"});
  CHECK(files.refused("include: common/list.yaml\n") ==
        Lines{"common/list.yaml:1:1 a deck is a section of keys, found a list"});
  CHECK(files.refused("include: common/broken.yaml\n") ==
        Lines{"common/broken.yaml:1:4 this bracket is never closed"});
  CHECK(files.refused("include: {a: b}\n") ==
        Lines{"deck.yaml:1:10 'include' must be a path or a list of paths, found a section"});
  CHECK(files.refused("include: ${a}.yaml\nvariables: {a: b}\n").size() == 1);
  CHECK(files.refused("include: common/base.yaml\n", {"include=b.yaml"}) ==
        Lines{"<command line>:1:1 'include' can't be given on the command line; override the keys "
              "themselves, or write a deck that includes both"});
}

TEST_CASE("a file may be included more than once, but not endlessly often", "[deck]") {
  const Files files;
  files.add("common/twice.yaml", "include: [base.yaml, base.yaml]\n");
  for (int i = 1; i < 10; ++i) {
    const std::string below = i == 1 ? "base.yaml" : "level" + std::to_string(i - 1) + ".yaml";
    files.add("common/level" + std::to_string(i) + ".yaml",
              "include: [" + below + ", " + below + "]\n");
  }

  CHECK(files.refused("include: common/twice.yaml\n") == Lines{});
  CHECK_FALSE(files.refused("include: common/level9.yaml\n").empty());
}

TEST_CASE("an included file may offer variables that the deck does not use", "[deck]") {
  const Files files;
  files.add("common/offers.yaml",
            "include: base.yaml\nvariables: {units: 3, spare: 4}\n"
            "model: {layers: [{type: dense, units: ${units}}]}\n");
  const auto units = [&](const std::string& more, const std::vector<std::string>& overrides) {
    const Deck deck = files.load("include: common/offers.yaml\n" + more, overrides);
    return deck.root().section("model").sections("layers")[0].integer("units");
  };

  CHECK(units("", {}) == 3);
  CHECK(units("variables: {units: 5}\n", {}) == 5);
  CHECK(units("variables: {units: 5}\n", {"variables.units=6"}) == 6);
  CHECK(files.refused("include: common/offers.yaml\n", {"variables.spare=5"}).size() == 1);
  CHECK(
      files.refused("include: common/offers.yaml\nvariables: {unit: 5}\n") ==
      Lines{"deck.yaml:2:13 nothing in the deck uses the variable 'unit'; did you mean 'units'?"});
}

TEST_CASE("the resolved deck stands alone and names the files", "[deck]") {
  const Files files;
  const Deck first = files.load("include: common/base.yaml\nseed: 4\n");

  const Deck again = Deck::parse(first.resolved(), "elsewhere/deck.yaml", test::sample_schema());

  CHECK(first.resolved().find("include:") == std::string::npos);
  CHECK(first.resolved().find("seed: 4  # deck:2\n") != std::string::npos);
  CHECK(first.resolved().find("samples: 200  # " + (files.folder() / "common/base.yaml").string() +
                              ":4\n") != std::string::npos);
  CHECK(deck::differences(first.resolved(), again.resolved(), {"data", "model", "train"}).empty());
}

}  // namespace zygos::test_includes
