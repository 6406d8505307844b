// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What an editor with the JSON Schema of `zygos schema` marks in a deck, with the program's tables.
#include "deck/json_validator.hpp"
#include "deck/schema_faults.hpp"
#include "process.hpp"

#include "zygos/deck/reference.hpp"
#include "zygos/load/deck_file.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace zygos::test::test_editor_schema {
namespace {

using nlohmann::json;

json editor_schema() { return json::parse(deck::json_schema(load::whole_schema())); }

json shipped_deck(const std::string& file) {
  return json_of_yaml(read_text(source_folder() / "inputs" / file));
}

/// Where a deck has a section whose keyword decides which keys it has, and its table.
std::vector<std::pair<std::string, deck::KeyFacts>> variants() {
  const deck::Schema root = load::whole_schema();
  const deck::Schema model = root.find("model")->facts().schemas.front();
  return {{"data", root.find("data")->facts()},
          {"optimizer", root.find("optimizer")->facts()},
          {"policy", root.find("policy")->facts()},
          {"model/loss", model.find("loss")->facts()},
          {"model/layers/0", model.find("layers")->facts()}};
}

}  // namespace

TEST_CASE("the JSON Schema of the program is one of draft-07, as far as the test knows it") {
  CHECK(schema_faults(editor_schema()) == Paths{});
}

TEST_CASE("an editor marks nothing in the decks that ship") {
  const json schema = editor_schema();
  std::size_t count = 0;

  for (const auto& entry : std::filesystem::directory_iterator(source_folder() / "inputs")) {
    if (entry.path().extension() == ".yaml") {
      INFO(entry.path().string());
      CHECK(wrong_paths(schema, json_of_yaml(read_text(entry.path()))) == Paths{});
      ++count;
    }
  }
  CHECK(count > 50);
}

TEST_CASE("an editor marks an unknown key of a section of any type, and nothing else for it") {
  const json schema = editor_schema();
  const json whole = shipped_deck("mnist_mlp.yaml");

  for (const auto& [place, facts] : variants()) {
    for (const deck::Schema& type : facts.schemas) {
      json deck = whole;
      json& section = deck[json::json_pointer("/" + place)];
      section = {{facts.discriminator, type.name()}};
      Paths expected = wrong_paths(schema, deck);  // keys that the type needs: the section
      CHECK(std::ranges::all_of(expected, [&](const auto& path) { return path == place; }));
      expected.push_back(place + "/no_such_key");
      section["no_such_key"] = 1;
      Paths marked = wrong_paths(schema, deck);
      std::ranges::sort(expected);
      std::ranges::sort(marked);
      INFO(place << " of type " << type.name());
      CHECK(marked == expected);
    }
  }
}

TEST_CASE("an editor marks an unknown type, and none of the keys beside it") {
  const json schema = editor_schema();
  const json whole = shipped_deck("mnist_mlp.yaml");

  for (const auto& [place, facts] : variants()) {
    json deck = whole;
    deck[json::json_pointer("/" + place)] = {{facts.discriminator, "no_such_type"}, {"units", 8}};
    INFO(place);
    CHECK(wrong_paths(schema, deck) == Paths{place + "/" + facts.discriminator});
  }
}

}  // namespace zygos::test::test_editor_schema
