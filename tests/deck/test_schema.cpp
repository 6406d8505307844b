// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "messages.hpp"
#include "sample_tables.hpp"

#include "zygos/deck/schema.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>

namespace zygos::test_schema {
using deck::Schema;
using deck::Unit;
using test::findings_of;
using test::Lines;

TEST_CASE("a value of the right type within its limits is accepted", "[deck]") {
  Schema schema("deck", "");
  schema.integer("n", "").in_range(1, 10);
  schema.real("x", "").above(0).below(1);
  schema.boolean("b", "");
  schema.text("t", "");
  schema.path("p", "");
  schema.choice("c", {"red", "blue"}, "");
  schema.quantity("q", Unit::bytes, "");
  schema.integers("is", "").at_least(1).length(2, 2);
  schema.reals("xs", "");
  schema.texts("ts", "");

  CHECK(findings_of("n: 10\nx: 1e-3\nb: false\nt: no\np: a/b\nc: 'red'\nq: 2 KiB\nis: [1, 2]\n"
                    "xs: [1, 2.5]\nts: [a, 1, yes]\n",
                    schema)
            .empty());
}

TEST_CASE("limits are closed or open as declared", "[deck]") {
  Schema schema("deck", "");
  schema.real("closed", "").in_range(0, 1);
  schema.real("open", "").above(0).below(1);

  CHECK(findings_of("closed: 0", schema).empty());
  CHECK(findings_of("closed: 1.0", schema).empty());
  CHECK(findings_of("closed: 1.1", schema) == Lines{"1:9 'closed' must be in [0, 1], found '1.1'"});
  CHECK(findings_of("open: 0", schema) == Lines{"1:7 'open' must be in (0, 1), found '0'"});
  CHECK(findings_of("open: 1", schema) == Lines{"1:7 'open' must be in (0, 1), found '1'"});
}

TEST_CASE("a word may stand instead of a value, but only plainly", "[deck]") {
  Schema schema("deck", "");
  schema.real("share", "").or_word("auto");

  CHECK(findings_of("share: auto", schema).empty());
  CHECK(findings_of("share: atuo", schema) ==
        Lines{"1:8 'share' must be a number, found 'atuo'; did you mean 'auto'?"});
  CHECK(findings_of("share: some", schema) ==
        Lines{"1:8 'share' must be a number, found 'some'; 'auto' is allowed too"});
  CHECK(findings_of("share: 'auto'", schema).size() == 1);
}

TEST_CASE("truth values are true and false, others get a hint", "[deck]") {
  Schema schema("deck", "");
  schema.boolean("on", "");
  const auto hint = [&](const std::string& word) {
    const Lines lines = findings_of("on: " + word, schema);
    return lines.empty() ? std::string() : lines[0].substr(lines[0].find(';') + 2);
  };

  CHECK(hint("true").empty());
  for (const char* word : {"yes", "on", "Y", "1", "TRUE", "On"}) {
    CHECK(hint(word) == "write true");
  }
  for (const char* word : {"no", "off", "N", "0", "False"}) {
    CHECK(hint(word) == "write false");
  }
  CHECK(hint("ture") == "did you mean 'true'?");
  CHECK(hint("\"true\"") == "remove the quotes");
}

TEST_CASE("lists are checked element by element and in length", "[deck]") {
  Schema schema("deck", "");
  schema.integers("shape", "").at_least(1).length(1, 3).or_word("auto");
  schema.texts("names", "").length(2);

  CHECK(findings_of("shape: auto", schema).empty());
  CHECK(findings_of("shape: [1, x, 0]", schema) ==
        Lines{"1:12 'shape[1]' must be an integer, found 'x'",
              "1:15 'shape[2]' must be at least 1, found '0'"});
  CHECK(findings_of("shape: [1, 2, 3, 4]", schema) ==
        Lines{"1:8 'shape' must have 1 to 3 elements, found 4"});
  CHECK(
      findings_of("shape: 5", schema) ==
      Lines{
          "1:8 'shape' must be a list of integers of at least 1 or 'auto', found '5'; write [5]"});
  CHECK(findings_of("names: [a]", schema) ==
        Lines{"1:8 'names' must have at least 2 elements, found 1"});
}

TEST_CASE("a bare value stands for a list of one where the key says so", "[deck]") {
  Schema schema("deck", "");
  schema.integers("kernel", "").at_least(1).length(1, 2).or_single().fallback(3);

  CHECK(deck::Deck::parse("{}", "deck.yaml", schema).root().integers("kernel") ==
        std::vector<std::int64_t>{3});
  CHECK(deck::Deck::parse("kernel: 5", "deck.yaml", schema).root().integers("kernel") ==
        std::vector<std::int64_t>{5});
  CHECK(deck::Deck::parse("kernel: [5, 1]", "deck.yaml", schema).root().integers("kernel") ==
        std::vector<std::int64_t>{5, 1});
  CHECK(findings_of("kernel: 0", schema) == Lines{"1:9 'kernel' must be at least 1, found '0'"});
  CHECK(
      findings_of("kernel: {a: 1}", schema) ==
      Lines{
          "1:9 'kernel' must be an integer or a list of integers of at least 1, found a section"});
}

TEST_CASE("a section that must be given is missed as a whole", "[deck]") {
  Schema inner("train", "");
  inner.integer("batch", "").required();
  Schema schema("deck", "");
  schema.section("train", inner).example("{batch: 1}");
  schema.section("test", inner).optional();

  CHECK(findings_of("train: {batch: 3}", schema).empty());
  CHECK(findings_of("test: {batch: 3}", schema) ==
        Lines{"1:1 missing key 'train' in the deck; add train: {batch: 1}"});
  CHECK(findings_of("train: {}", schema) ==
        Lines{"1:1 missing key 'batch' in 'train'; add 'batch', an integer"});
}

TEST_CASE("a variant takes the keys of its keyword and may be bare", "[deck]") {
  Schema sgd("sgd", "");
  sgd.real("momentum", "").fallback(0.0);
  Schema adam("adam", "");
  adam.real("beta", "").required();
  Schema schema("deck", "");
  schema.variant("optimizer", "type", {sgd, adam}, "");

  CHECK(findings_of("optimizer: sgd", schema).empty());
  CHECK(findings_of("optimizer: {type: adam, beta: 1}", schema).empty());
  CHECK(findings_of("optimizer: adam", schema) ==
        Lines{"1:1 missing key 'beta' in 'optimizer'; add 'beta', a number"});
  CHECK(findings_of("optimizer: agd", schema) ==
        Lines{"1:12 'optimizer.type' must be one of sgd, adam, found 'agd'; did you mean 'sgd'?"});
  CHECK(findings_of("optimizer: {type: sgd, beta: 1}", schema) ==
        Lines{"1:24 unknown key 'beta' in 'optimizer' (sgd); it is a key of adam"});
  CHECK(findings_of("optimizer: {tipe: sgd}", schema) ==
        Lines{"1:13 unknown key 'tipe' in 'optimizer'; did you mean 'type'?"});
  CHECK(findings_of("optimizer: [sgd]", schema) ==
        Lines{"1:12 'optimizer' must be a section with 'type', found a list"});
}

TEST_CASE("a misspelt key is not missed as well", "[deck]") {
  Schema schema("deck", "");
  schema.integer("batch", "").required();

  CHECK(findings_of("bacth: 3", schema) ==
        Lines{"1:1 unknown key 'bacth' in the deck; did you mean 'batch'?"});
}

TEST_CASE("two letters in the wrong order are one slip of the finger", "[deck]") {
  Schema schema("deck", "");
  schema.real("learning_rate", "");

  CHECK(findings_of("laernign_rate: 1", schema) ==
        Lines{"1:1 unknown key 'laernign_rate' in the deck; did you mean 'learning_rate'?"});
}

TEST_CASE("columns count characters, not bytes", "[deck]") {
  Schema schema("deck", "");
  schema.text("t", "");
  schema.integer("n", "");

  CHECK(findings_of("{t: \"\xC3\xA4\xE2\x82\xAC\", n: x}", schema) ==
        Lines{"1:14 'n' must be an integer, found 'x'"});
}

TEST_CASE("a default that its own schema refuses is a bug", "[deck]") {
  Schema schema("deck", "");
  schema.integer("n", "").at_least(1).fallback(0);

  CHECK_THROWS_AS(deck::Deck::parse("{}", "deck.yaml", schema), InternalError);
}

TEST_CASE("YAML that hides what a run does is refused", "[deck]") {
  Schema schema("deck", "");
  schema.integer("seed", "");
  const auto first = [&](const std::string& text) {
    const Lines lines = findings_of(text, schema);
    return lines.empty() ? std::string() : lines[0];
  };

  CHECK(first("seed: &x 1").starts_with("1:7 YAML anchors"));
  CHECK(first("seed: *x").starts_with("1:7 YAML aliases"));
  CHECK(first("seed: !int 1").starts_with("1:7 YAML tags"));
  CHECK(first("seed: ! 1").starts_with("1:7 YAML tags"));
  CHECK(first("seed: 1\nseed: 2") ==
        "2:1 duplicate key 'seed'; first given in line 1; keep one of them");
  CHECK(first("seed: 1\n...\nseed: 2").starts_with("3:1 a second document"));
  CHECK(first("seed: 1\n---\n").starts_with("2:1 a second document"));
  CHECK(first("seed: \"1\n").starts_with("1:7 this quote is not closed"));
  CHECK(first("\tseed: 1") ==
        "1:1 a tab indents this line; YAML is indented with spaces: put two "
        "for each tab");
  CHECK(first("seed: 1\rname: x").starts_with("1:8 a control character"));
  CHECK(first(std::string("seed: 1\0", 8)).starts_with("1:8 a control character"));
  CHECK(first("a: \xED\xA0\x80").starts_with("1:4 the deck is not UTF-8"));
  CHECK(first(std::string(5 << 20, ' ')).starts_with("1:1 the deck is larger than 4 MiB"));
  CHECK(first("a: " + std::string(64, '[') + std::string(64, ']'))
            .starts_with("1:67 the deck is nested"));
  std::string many = "input: [";
  for (int i = 0; i < 200'001; ++i) {
    many += "1,";
  }
  CHECK(first(many + "1]").find("more than 200000 values") != std::string::npos);
}

TEST_CASE("a byte order mark and the line ends of Windows are tolerated", "[deck]") {
  std::string text = test::sample_deck;
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2)) {
    text.replace(at, 1, "\r\n");
  }

  CHECK(findings_of("\xEF\xBB\xBF" + text, test::sample_schema()).empty());
  CHECK(findings_of("\xEF\xBB\xBF"
                    "colour: 1",
                    test::sample_schema())[0]
            .starts_with("1:1 "));
}

}  // namespace zygos::test_schema
