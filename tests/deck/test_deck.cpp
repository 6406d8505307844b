// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "messages.hpp"
#include "sample_tables.hpp"

#include "zygos/deck/deck.hpp"

#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace zygos::deck::test_deck {
using deck::Deck;
using deck::differences;
using test::findings_of;
using test::Lines;

namespace {

Deck read(const std::vector<std::string>& overrides = {}) {
  return Deck::parse(test::sample_deck, "sample.yaml", test::sample_schema(), overrides);
}

Lines refused(const std::string& argument) {
  return findings_of(test::sample_deck, test::sample_schema(), {argument});
}

}  // namespace

TEST_CASE("overrides replace, add and reach into lists by index and by name", "[deck]") {
  const Deck changed = read({"train.batch=64", "seed=7", "model.layers.0.units=32",
                             "model.layers.dense2.activation=tanh", "model.input=[784]",
                             "optimizer={type: adam, beta1: 0.8}"});

  const deck::Section& root = changed.root();
  CHECK(root.section("train").integer("batch") == 64);
  CHECK(root.integer("seed") == 7);
  const auto layers = root.section("model").sections("layers");
  CHECK(layers[0].integer("units") == 32);
  CHECK(layers[1].text("activation") == "tanh");
  CHECK(root.section("model").integers("input") == std::vector<std::int64_t>{784});
  CHECK(root.section("optimizer").real("beta1") == 0.8);
}

TEST_CASE("overrides reach into defaults and bare keywords", "[deck]") {
  const Deck changed =
      read({"lanes.device.threads=2", "policy.share=0.25", "data=glyphs", "data.samples=9"});

  const auto lanes = changed.root().sections("lanes");
  REQUIRE(lanes.size() == 2);
  CHECK(lanes[1].text("kind") == "auto");
  CHECK(lanes[1].integer("threads") == 2);
  CHECK(lanes[0].origin("kind") == deck::Origin::fallback);
  CHECK(changed.root().section("policy").text("type") == "coarse_split");
  CHECK(changed.root().section("policy").real("share") == 0.25);
  CHECK(changed.root().section("data").integer("samples") == 9);
}

TEST_CASE("an override that spoils a default is reported where it stands", "[deck]") {
  CHECK(refused("lanes.device={threads: 2}") ==
        Lines{"1:1 missing key 'kind' in 'lanes.device'; add kind: host"});
  CHECK(refused("lanes.device.kind=gpu").size() == 1);
}

TEST_CASE("a bad override is reported at its place in the command line", "[deck]") {
  CHECK(refused("train.bacth=3") ==
        Lines{"1:1 unknown key 'bacth' in 'train'; did you mean 'batch'?"});
  CHECK(refused("train.batch=x") == Lines{"1:13 'train.batch' must be an integer, found 'x'"});
  CHECK(refused("seed=") == Lines{"1:1 'seed' must be an integer of at least 0, found nothing"});
  CHECK(refused("seed") == Lines{"1:1 'seed' is not an override; overrides are written "
                                 "key.path=value, e.g. train.batch=64"});
  CHECK(refused("train..batch=3") ==
        Lines{"1:1 empty part in 'train..batch'; overrides are written "
              "key.path=value, e.g. train.batch=64"});
  CHECK(refused("model.layers.2.units=3") ==
        Lines{"1:1 'model.layers' has no element '2'; allowed: 0 to 1, dense1, dense2"});
  CHECK(refused("model.layers.dnse1.units=3") ==
        Lines{"1:1 'model.layers' has no element 'dnse1'; did you mean 'dense1'?"});
  CHECK(refused("train.batch.size=3") == Lines{"1:1 'train.batch' has no keys, found '20'"});
  CHECK(refused("model.input=[1, 2").size() == 1);
  CHECK(refused("seed=\"1").size() == 1);
}

TEST_CASE("positions count through all arguments", "[deck]") {
  try {
    read({"seed=2", "train.batch=\xC3\xA4", "train.epochs=0"});
    FAIL("accepted");
  } catch (const deck::DeckError& error) {
    CHECK(std::string(error.what()) ==
          "<command line>:1:20: error: 'train.batch' must be an integer, found '\xC3\xA4'\n"
          " 1 | seed=2 train.batch=\xC3\xA4 train.epochs=0\n"
          "   |                    ^\n"
          "<command line>:1:35: error: 'train.epochs' must be in [1, 1000000000], found '0'\n"
          " 1 | seed=2 train.batch=\xC3\xA4 train.epochs=0\n"
          "   |                                   ^\n"
          "2 errors\n");
  }
}

TEST_CASE("the resolved deck says every value and its origin and reads back as itself", "[deck]") {
  const Deck first = read({"seed=5"});

  const Deck again = Deck::parse(first.resolved(), "deck.yaml", test::sample_schema());

  const std::string& text = first.resolved();
  CHECK(text.find("deck_version: 1  # deck:1\n") != std::string::npos);
  CHECK(text.find("name: sample  # default\n") != std::string::npos);
  CHECK(text.find("seed: 5  # command line\n") != std::string::npos);
  CHECK(text.find("    - type: dense  # deck:7\n      units: 16  # deck:7\n") != std::string::npos);
  CHECK(text.find("      name: dense1  # default\n") != std::string::npos);
  CHECK(text.find("  every: 1 epoch  # default\n") != std::string::npos);
  CHECK(differences(first.resolved(), again.resolved()).empty());
  CHECK(again.root().text("name") == "sample");
}

TEST_CASE("every sort of text survives the resolved deck", "[deck]") {
  deck::Schema schema("deck", "");
  schema.texts("texts", "");
  schema.path("path", "");
  const std::string text =
      "texts: ['', 'a b', '1', 'true', 'no', 'x: y', '# z', 'it''s', \"q\\\"\\\\\", \"a\\nb\\t\", "
      "'-', '~', \"\xC3\xA4\", '[a]', '*a', '&a', '!a', '%', '@', 'null']\npath: 'a b/#c'\n";

  const Deck first = Deck::parse(text, "deck.yaml", schema);
  const Deck again = Deck::parse(first.resolved(), "deck.yaml", schema);

  CHECK(first.root().texts("texts").size() == 20);
  CHECK(again.root().texts("texts") == first.root().texts("texts"));
  CHECK(again.root().path("path").is_absolute());
  CHECK(differences(first.resolved(), again.resolved()).empty());
}

TEST_CASE("decks are compared by meaning, under the given keys only", "[deck]") {
  const std::string before = read().resolved();
  const std::string after =
      read({"model.layers.1.units=11", "train.batch=30", "optimizer.learning_rate=1e-1"})
          .resolved();

  const auto all = differences(before, after);
  const auto model = differences(before, after, {"model", "optimizer"});

  REQUIRE(all.size() == 2);
  CHECK(all[1].key == "train.batch");
  REQUIRE(model.size() == 1);
  CHECK(model[0].key == "model.layers.dense2.units");
  CHECK(model[0].before == "10");
  CHECK(model[0].after == "11");
  CHECK(differences(before, after, {"mod"}).empty());
}

TEST_CASE("keys that come and go are differences", "[deck]") {
  const std::string before = read().resolved();
  const std::string after =
      read({"model.layers=[{type: dense, units: 16, activation: relu}]", "model.input=[4]"})
          .resolved();

  std::vector<std::string> lines;
  for (const auto& change : differences(before, after, {"model"})) {
    lines.push_back(change.key + ": " + change.before + " -> " + change.after);
  }

  CHECK(lines == Lines{"model.layers.dense2.type: dense -> (absent)",
                       "model.layers.dense2.units: 10 -> (absent)",
                       "model.layers.dense2.bias: true -> (absent)",
                       "model.layers.dense2.activation: none -> (absent)",
                       "model.layers.dense2.name: dense2 -> (absent)",
                       "model.layers: [dense1, dense2] -> [dense1]",
                       "model.input: (absent) -> [4]"});
  CHECK_THROWS_AS(differences("a: [", before), UsageError);
}

TEST_CASE("a deck that can't be read is a usage error that says so", "[deck]") {
  const deck::Schema schema = test::sample_schema();

  CHECK_THROWS_AS(Deck::load("no/such/deck.yaml", schema), UsageError);
  CHECK_THROWS_AS(Deck::load("tests", schema), UsageError);
}

TEST_CASE("a deck is read from its file and knows its folder", "[deck]") {
  const auto folder = std::filesystem::temp_directory_path() / "zygos_test_deck";
  std::filesystem::create_directories(folder);
  deck::Schema schema("deck", "");
  schema.path("data", "");
  std::ofstream(folder / "run.yaml") << "data: x.idx\n";

  const Deck deck = Deck::load(folder / "run.yaml", schema);

  CHECK(deck.root().path("data") == folder / "x.idx");
  CHECK(deck.file() == folder / "run.yaml");
  std::filesystem::remove_all(folder);
}

}  // namespace zygos::deck::test_deck
