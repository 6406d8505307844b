// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "messages.hpp"
#include "sample_tables.hpp"

#include "zygos/deck/deck.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

namespace zygos::test_variables {
using deck::Deck;
using test::findings_of;
using test::Lines;

namespace {

constexpr const char* numbers =
    R"(variables: {width: 16, rate: 0.1, word: relu, every: 5, half: "${rate}"}
deck_version: 1
name: net_${width}_${word}
data: {format: glyphs, samples: 20${width}}
model:
  layers:
    - {type: dense, units: ${width}, activation: ${word}}
    - {type: dense, units: "${width}"}
optimizer: {type: sgd, learning_rate: ${half}}
train:
  steps: 1
  batch: 20
  report_every: ${every} steps
)";

Deck read(const std::vector<std::string>& overrides = {}) {
  return Deck::parse(numbers, "deck.yaml", test::sample_schema(), overrides);
}

/// A deck of texts, with these variables.
Lines refused(const std::string& variables, const std::string& texts,
              const std::vector<std::string>& overrides = {}) {
  deck::Schema schema("deck", "");
  schema.scalars("variables", "").read_first();
  schema.texts("texts", "");
  schema.integer("number", "").at_least(1).fallback(1);
  return findings_of("variables: " + variables + "\ntexts: " + texts + "\n", schema, overrides);
}

}  // namespace

TEST_CASE("a variable alone has its own type, within a text its characters", "[deck]") {
  const deck::Section root = read().root();

  const auto layers = root.section("model").sections("layers");
  CHECK(layers[0].integer("units") == 16);
  CHECK(layers[0].text("activation") == "relu");
  CHECK(layers[1].integer("units") == 16);
  CHECK(root.text("name") == "net_16_relu");
  CHECK(root.section("data").integer("samples") == 2016);
  CHECK(root.section("optimizer").real("learning_rate") == 0.1);
  CHECK(root.section("train").quantity("report_every").value == 5.0);
}

TEST_CASE("variables are given anew on the command line, and used there", "[deck]") {
  const deck::Section root =
      read({"variables.width=32", "train.batch=${width}", "seed=${every}"}).root();

  CHECK(root.section("model").sections("layers")[0].integer("units") == 32);
  CHECK(root.section("train").integer("batch") == 32);
  CHECK(root.integer("seed") == 5);
}

TEST_CASE("the resolved deck has values, and says what they came from", "[deck]") {
  const std::string text = read({"variables.width=32"}).resolved();

  CHECK(text.find("variables") == std::string::npos);
  CHECK(text.find("units: 32  # deck:7, ${width} is '32' (command line)\n") != std::string::npos);
  CHECK(text.find("learning_rate: 0.1  # deck:9, ${half} is '0.1' (deck.yaml:1)\n") !=
        std::string::npos);
  const Deck again = Deck::parse(text, "deck.yaml", test::sample_schema());
  CHECK(deck::differences(text, again.resolved()).empty());
}

TEST_CASE("a plain ${ is written with two dollars and survives the resolved deck", "[deck]") {
  deck::Schema schema("deck", "");
  schema.scalars("variables", "").read_first();
  schema.texts("texts", "");
  schema.path("path", "");

  const Deck first = Deck::parse(
      "variables: {a: x}\ntexts: ['$${a}', '${a}$${a}', $a, '$', '$$', '$${']\npath: $${a}/b\n",
      "deck.yaml", schema);
  const Deck again = Deck::parse(first.resolved(), "deck.yaml", schema);

  CHECK(first.root().texts("texts") ==
        std::vector<std::string>{"${a}", "x${a}", "$a", "$", "$$", "${"});
  CHECK(again.root().texts("texts") == first.root().texts("texts"));
  CHECK(again.root().path("path").filename() == "b");
  CHECK(again.root().path("path").parent_path().filename() == "${a}");
}

TEST_CASE("quotes that a variable has of its own make it a text", "[deck]") {
  deck::Schema schema("deck", "");
  schema.scalars("variables", "").read_first();
  schema.integer("number", "");

  CHECK(findings_of("variables: {a: '5'}\nnumber: ${a}\n", schema) ==
        Lines{"2:9 'number' must be an integer, found the text \"5\"; remove the quotes; ${a} is "
              "'5' (deck.yaml:1)"});
  CHECK(findings_of("variables: {a: 5}\nnumber: '1${a}'\n", schema).size() == 1);
  CHECK(findings_of("variables: {a: 5}\nnumber: '${a}'\n", schema) == Lines{});
}

TEST_CASE("a value that does not fit names its variable, wherever that was given", "[deck]") {
  CHECK(findings_of(numbers, test::sample_schema(), {"variables.width=wide"})[0] ==
        "4:33 'data.samples' must be an integer, found '20wide'; ${width} is 'wide' (command "
        "line)");
}

TEST_CASE("unknown, unused and malformed variables are refused", "[deck]") {
  CHECK(refused("{width: 1}", "['${widht}', '${width}']") ==
        Lines{"2:9 unknown variable 'widht'; did you mean 'width'?"});
  CHECK(refused("{width: 1}", "['${other}', '${width}']") ==
        Lines{"2:9 unknown variable 'other'; known: width; others are given under 'variables'"});
  CHECK(refused("{}", "['${a}']") ==
        Lines{"2:9 unknown variable 'a'; the deck has no variables; give 'variables: {a: ...}'"});
  CHECK(refused("{a: 1}", "[]") ==
        Lines{"1:13 nothing in the deck uses the variable 'a'; write ${a} where its value belongs, "
              "or take it out"});
  CHECK(refused("{a: 1}", "['${a']") ==
        Lines{"1:13 nothing in the deck uses the variable 'a'; write ${a} where its value belongs, "
              "or take it out",
              "2:9 '${a' is no variable; a variable is written ${name}; the characters '${' are "
              "written '$${'"});
  CHECK(refused("{1a: 1}", "[]") == Lines{"1:13 the name '1a' is not allowed; names are letters, "
                                          "digits, '_' and '-', beginning with a letter"});
  CHECK(refused("{a: [1]}", "['${a}']") ==
        Lines{"1:16 the variable 'a' must be a number, a text, true or false, found a list"});
  CHECK(refused("{a: }", "['${a}']").size() == 1);
  CHECK(refused("[1]", "[]") == Lines{"1:12 'variables' must be a section of names and values, "
                                      "found a list; write variables: {width: 128}"});
  CHECK(refused("{width: 1}", "['${width}']", {"variables.widht=2"}) ==
        Lines{"1:1 nothing in the deck uses the variable 'widht'; did you mean 'width'?"});
}

TEST_CASE("variables may hold others, but not themselves", "[deck]") {
  CHECK(refused("{a: 'x${b}', b: y}", "['${a}']") == Lines{});
  CHECK(refused("{a: '${a}'}", "['${a}']") ==
        Lines{"1:16 the variable 'a' is made of itself; give it a value that does not use it"});
  CHECK(refused("{a: '${b}', b: '${a}'}", "['${a}']").size() == 1);
  std::string many = "{v0: 0123456789abcdef";
  for (int i = 1; i < 40; ++i) {
    many += ", v" + std::to_string(i) + ": '${v" + std::to_string(i - 1) + "}${v" +
            std::to_string(i - 1) + "}'";
  }
  CHECK(refused(many + "}", "['${v39}']").size() == 1);
}

TEST_CASE("without the key in the schema there are no variables", "[deck]") {
  deck::Schema schema("deck", "");
  schema.texts("texts", "");

  CHECK(Deck::parse("texts: ['${a}']\n", "deck.yaml", schema).root().texts("texts") ==
        std::vector<std::string>{"${a}"});
}

}  // namespace zygos::test_variables
