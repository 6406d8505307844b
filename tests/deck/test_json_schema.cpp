// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The JSON Schema and the checker come from one table; here both check the same decks.
#include "deck_writer.hpp"
#include "json_validator.hpp"
#include "messages.hpp"
#include "sample_tables.hpp"
#include "schema_faults.hpp"

#include "zygos/deck/reference.hpp"

#include <catch2/catch_test_macros.hpp>
#include <yaml-cpp/exceptions.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace zygos::test_json_schema {
namespace fs = std::filesystem;
using nlohmann::json;
using test::accepts;
using test::DeckWriter;
using test::json_of_yaml;
using test::Paths;
using test::wrong_paths;

namespace {

json sample_json() { return json::parse(deck::json_schema(test::sample_schema())); }

std::string read_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<fs::path> decks_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Numbers of the bad decks whose fault no JSON Schema can express: how the text is written, and
/// what several keys say together.
std::set<std::string> beyond_json() {
  return {"10",  "11",  "12",  "24",  "25",  "26",  "37",  "38",  "42",  "46",  "64",
          "65",  "69",  "70",  "71",  "72",  "73",  "74",  "75",  "76",  "77",  "78",
          "80",  "81",  "160", "170", "171", "174", "175", "176", "177", "179", "180",
          "181", "182", "184", "185", "187", "191", "192", "193"};
}

bool is_refused(const json& schema, const fs::path& file) {
  try {
    return !accepts(schema, json_of_yaml(read_text(file)));
  } catch (const YAML::Exception&) {
    return true;
  }
}

/// The sample deck with a value at a place of it: "/optimizer/type".
json deck_with(const std::string& place, const json& value) {
  json deck = json_of_yaml(test::sample_deck);
  deck[json::json_pointer(place)] = value;
  return deck;
}

}  // namespace

TEST_CASE("the JSON Schema accepts decks with every key and what they resolve to", "[deck]") {
  const json schema = sample_json();

  for (std::size_t which = 0; which < 6; ++which) {
    const std::string text = DeckWriter::text_of(DeckWriter(test::sample_schema(), which).lines());
    const deck::Deck deck = deck::Deck::parse(text, "deck.yaml", test::sample_schema());
    INFO(text);
    CHECK(accepts(schema, json_of_yaml(text)));
    CHECK(accepts(schema, json_of_yaml(deck.resolved())));
  }
  CHECK(accepts(schema, json_of_yaml(test::sample_deck)));
}

TEST_CASE("the JSON Schema accepts a keyword on its own only if it needs no key", "[deck]") {
  const json schema = sample_json();
  json deck = json_of_yaml(test::sample_deck);

  deck["optimizer"] = "adam";
  deck["data"] = "glyphs";
  CHECK(accepts(schema, deck));
  deck["data"] = "idx";
  CHECK_FALSE(accepts(schema, deck));
}

TEST_CASE("the JSON Schema refuses what the checker refuses in one key", "[deck]") {
  const json schema = sample_json();

  for (const fs::path& file : decks_in("tests/decks/bad")) {
    const std::string name = file.filename().string();
    const std::string number = name.substr(0, name.find('_'));
    INFO(file.string());
    CHECK(is_refused(schema, file) != beyond_json().contains(number));
  }
}

TEST_CASE("the JSON Schema accepts variables anywhere and lets included decks have the rest",
          "[deck]") {
  const json schema = sample_json();
  json deck = json_of_yaml(test::sample_deck);
  deck["variables"] = {{"n", 8}, {"name", "first"}, {"on", true}};
  deck["train"]["batch"] = "${n}";
  deck["optimizer"] = {{"type", "${name}"}};
  deck["seed"] = "1${n}";
  deck["precision"] = "${name}";
  deck["checkpoint"] = {{"background", "${on}"}, {"every", "${n} steps"}};

  CHECK(accepts(schema, deck));
  deck["train"]["batch"] = "n";
  CHECK_FALSE(accepts(schema, deck));
  CHECK_FALSE(accepts(schema, {{"deck_version", 1}}));
  CHECK(accepts(schema, {{"include", "base.yaml"}, {"train", {{"steps", 5}}}}));
  CHECK(accepts(schema, {{"include", {"a.yaml", "b.yaml"}}}));
  CHECK_FALSE(accepts(schema, {{"include", "base.yaml"}, {"train", {{"step", 5}}}}));
  CHECK_FALSE(accepts(schema, {{"include", "base.yaml"}, {"variables", {{"a", json::array()}}}}));
}

TEST_CASE("quantities in the JSON Schema are a number with one of the key's units", "[deck]") {
  const json schema = sample_json();
  const auto accepted = [&](const std::string& key, const std::string& value) {
    json deck = json_of_yaml(test::sample_deck);
    deck["lanes"]["host"] = {{"kind", "host"}, {key, value}};
    return accepts(schema, deck);
  };

  CHECK(accepted("memory", "2 GiB"));
  CHECK(accepted("memory", "1.5e3MB"));
  CHECK(accepted("memory", "unlimited"));
  CHECK_FALSE(accepted("memory", "2"));
  CHECK_FALSE(accepted("memory", "GiB"));
  CHECK_FALSE(accepted("memory", "2 s"));
  CHECK_FALSE(accepted("memory", "2 GiB or more"));
  CHECK_FALSE(accepted("memory", "-2 GiB"));
}

TEST_CASE("the JSON Schema is one of draft-07, as far as the test knows it", "[deck]") {
  CHECK(test::schema_faults(sample_json()) == Paths{});
  CHECK(test::schema_faults({{"enum", json::array()}}) == Paths{"enum"});
  CHECK(test::schema_faults({{"allOf", json::array()}}) == Paths{"allOf"});
  CHECK(test::schema_faults({{"unevaluatedProperties", false}}) == Paths{"unevaluatedProperties"});
  CHECK(test::schema_faults({{"properties", {{"a", {{"type", "text"}}}}}}) ==
        Paths{"properties/a/type"});
  CHECK(test::schema_faults({{"enum", {"a", "b"}}, {"enumDescriptions", {"one"}}}) ==
        Paths{"enumDescriptions"});
  CHECK(test::schema_faults({{"items", {{"then", {{"const", 1}}}}}}) == Paths{"items"});
}

TEST_CASE("the JSON Schema marks a wrong key of a section and not the section", "[deck]") {
  const json schema = sample_json();

  REQUIRE(wrong_paths(schema, json_of_yaml(test::sample_deck)) == Paths{});
  for (const std::string place :
       {"data/sample", "model/layers/0/unit", "model/layers/1/rate", "model/loss/smooth",
        "optimizer/momentun", "optimizer/beta1", "policy/shares", "train/batches", "optimiser"}) {
    json deck = deck_with("/policy", {{"type", "coarse_split"}});
    deck["model"]["loss"] = {{"type", "mse"}};
    deck[json::json_pointer("/" + place)] = 1;
    INFO(place);
    CHECK(wrong_paths(schema, deck) == Paths{place});
  }
}

TEST_CASE("the JSON Schema marks a wrong value of a section at its key", "[deck]") {
  const json schema = sample_json();

  CHECK(wrong_paths(schema, deck_with("/optimizer/learning_rate", -1)) ==
        Paths{"optimizer/learning_rate"});
  CHECK(wrong_paths(schema, deck_with("/model/layers/1/units", "many")) ==
        Paths{"model/layers/1/units"});
  CHECK(wrong_paths(schema, deck_with("/model/layers/0/activation", "rellu")) ==
        Paths{"model/layers/0/activation"});
  CHECK(wrong_paths(schema, deck_with("/data/samples", "few")) == Paths{"data/samples"});
}

TEST_CASE("the JSON Schema marks an unknown keyword alone, whatever keys are beside it", "[deck]") {
  const json schema = sample_json();

  CHECK(wrong_paths(schema, deck_with("/optimizer/type", "adm")) == Paths{"optimizer/type"});
  CHECK(wrong_paths(schema, deck_with("/model/layers/0/type", "dens")) ==
        Paths{"model/layers/0/type"});
  CHECK(wrong_paths(schema, deck_with("/data/format", "glyph")) == Paths{"data/format"});
  CHECK(wrong_paths(schema, deck_with("/policy", {{"type", 3}})) == Paths{"policy/type"});
}

TEST_CASE("the JSON Schema marks the section where its keyword or a key is missing", "[deck]") {
  const json schema = sample_json();

  CHECK(wrong_paths(schema, deck_with("/optimizer", {{"learning_rate", 0.1}})) ==
        Paths{"optimizer"});
  CHECK(wrong_paths(schema, deck_with("/model/layers/0", {{"type", "dense"}})) ==
        Paths{"model/layers/0"});
  CHECK(wrong_paths(schema, deck_with("/policy", 3)) == Paths{"policy"});
}

TEST_CASE("the JSON Schema takes a keyword on its own, and marks a wrong one", "[deck]") {
  const json schema = sample_json();

  CHECK(wrong_paths(schema, deck_with("/policy", "single")) == Paths{});
  CHECK(wrong_paths(schema, deck_with("/policy", "${policy}")) == Paths{});
  CHECK(wrong_paths(schema, deck_with("/policy", "singel")) == Paths{"policy"});
  CHECK(wrong_paths(schema, deck_with("/model/layers/0", "gelu")) == Paths{});
  CHECK(wrong_paths(schema, deck_with("/model/layers/0", "dense")) == Paths{"model/layers/0"});
}

TEST_CASE("the JSON Schema lets an included deck have the keyword, but no list's", "[deck]") {
  const json schema = sample_json();
  const auto marked = [&](const std::string& key, const json& value) {
    return wrong_paths(schema, {{"include", "base.yaml"}, {key, value}});
  };

  CHECK(marked("optimizer", {{"learning_rate", 0.1}, {"momentum", 0.9}}) == Paths{});
  CHECK(marked("optimizer", {{"learning_rate", -1}}) == Paths{"optimizer/learning_rate"});
  CHECK(marked("optimizer", {{"momentun", 0.9}}) == Paths{"optimizer/momentun"});
  CHECK(marked("optimizer", {{"type", "adam"}, {"momentum", 0.9}}) == Paths{"optimizer/momentum"});
  CHECK(marked("data", {{"samples", 100}}) == Paths{});
  CHECK(marked("data", {{"type", "idx"}}) == Paths{"data/type"});
  CHECK(marked("policy", "single") == Paths{});
  CHECK(marked("model", {{"layers", {{{"type", "dense"}}}}}) == Paths{"model/layers/0"});
  CHECK(marked("model", {{"layers", {{{"units", 8}}}}}) == Paths{"model/layers/0"});
}

/// Decks of layers that the sample tables know; tests/app checks every one against the real tables.
TEST_CASE("shipped decks are accepted by checker and JSON Schema alike", "[deck]") {
  const json schema = sample_json();

  for (const char* file : {"inputs/mnist_mlp.yaml", "inputs/mlp_big.yaml", "inputs/glyphs_mlp.yaml",
                           "inputs/split_speeds.yaml"}) {
    INFO(file);
    CHECK(test::findings_of(read_text(file), test::sample_schema()) == test::Lines{});
    CHECK(accepts(schema, json_of_yaml(read_text(file))));
  }
}

}  // namespace zygos::test_json_schema
