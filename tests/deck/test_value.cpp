// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "messages.hpp"
#include "sample_tables.hpp"

#include "zygos/deck/value.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

namespace zygos::test_value {
using deck::Deck;
using deck::Origin;
using deck::Schema;
using deck::Section;
using deck::Unit;

namespace {

Schema every_type() {
  Schema leaf("leaf", "");
  leaf.integer("size", "").fallback(4);
  Schema other("other", "");
  Schema schema("deck", "");
  schema.integer("n", "").or_word("auto");
  schema.real("x", "");
  schema.boolean("b", "").fallback(true);
  schema.text("t", "");
  schema.path("p", "");
  schema.choice("c", {"red", "blue"}, "").fallback("blue");
  schema.quantity("bytes", Unit::bytes, "").fallback("2 KiB");
  schema.quantity("time", {Unit::seconds, Unit::steps}, "").fallback("1 min");
  schema.quantity("speed", Unit::bandwidth, "").fallback("1 GB/s");
  schema.integers("is", "");
  schema.reals("xs", "");
  schema.texts("ts", "");
  schema.section("inner", leaf);
  schema.named_sections("named", leaf, "");
  schema.sections("list", leaf, "");
  schema.variant("kind", "type", {leaf, other}, "");
  schema.variants("kinds", "type", {leaf, other}, "");
  return schema;
}

Section read(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return Deck::parse(text, "decks/deck.yaml", every_type(), overrides).root();
}

}  // namespace

TEST_CASE("every type comes back as it was written", "[deck]") {
  const Section root = read(
      "n: 3\nx: 4\nb: false\nt: \"a \\\"b\\\"\"\np: ../data/x.idx\nc: red\nbytes: 1 MiB\n"
      "time: 5 steps\nspeed: 2 GB/s\nis: [1, -2]\nxs: [1, 2.5]\nts: [a, no]\n");

  CHECK(root.integer("n") == 3);
  CHECK(root.real("n") == 3.0);
  CHECK(root.real("x") == 4.0);
  CHECK(root.boolean("b") == false);
  CHECK(root.text("t") == "a \"b\"");
  CHECK(root.path("p") == std::filesystem::path("data/x.idx"));
  CHECK(root.text("c") == "red");
  CHECK(root.bytes("bytes") == 1048576);
  CHECK(root.quantity("time") == deck::Quantity{5, Unit::steps});
  CHECK(root.bytes_per_second("speed") == 2e9);
  CHECK(root.integers("is") == std::vector<std::int64_t>{1, -2});
  CHECK(root.reals("xs") == std::vector<double>{1, 2.5});
  CHECK(root.texts("ts") == std::vector<std::string>{"a", "no"});
}

TEST_CASE("defaults are filled in, other keys stay absent", "[deck]") {
  const Section root = read("n: auto\n");

  CHECK(root.is_word("n", "auto"));
  CHECK_FALSE(root.is_word("n", "never"));
  CHECK(root.text("n") == "auto");
  CHECK_FALSE(root.has("x"));
  CHECK(root.boolean("b"));
  CHECK(root.seconds("time") == 60.0);
  CHECK(root.section("inner").integer("size") == 4);
  CHECK_FALSE(root.has("kind"));
}

TEST_CASE("sections keep names, order and keywords", "[deck]") {
  const Section root = read(
      "named: {b: {size: 1}, a: {}}\nlist: [{size: 7}, {}]\nkind: other\n"
      "kinds: [other, {type: leaf, size: 9}]\n");

  const std::vector<Section> named = root.sections("named");
  REQUIRE(named.size() == 2);
  CHECK(named[0].name() == "b");
  CHECK(named[1].name() == "a");
  CHECK(named[1].integer("size") == 4);
  CHECK(root.sections("list")[0].integer("size") == 7);
  CHECK(root.section("kind").text("type") == "other");
  CHECK(root.sections("kinds")[1].text("type") == "leaf");
  CHECK(root.sections("kinds")[1].integer("size") == 9);
}

TEST_CASE("values know where they stand and how they came there", "[deck]") {
  const Section root = read("n: 3\ninner:\n  size: 5\n", {"x=2", "c=red"});

  CHECK(root.position("n").line == 1);
  CHECK(root.position("n").column == 4);
  CHECK(root.section("inner").position().line == 2);
  CHECK(root.section("inner").position("size").line == 3);
  CHECK(root.section("inner").position("size").column == 9);
  CHECK(root.origin("n") == Origin::deck);
  CHECK(root.origin("b") == Origin::fallback);
  CHECK(root.origin("c") == Origin::command_line);
  CHECK(root.position("c").in_overrides);
  CHECK(root.position("c").column == 7);
}

TEST_CASE("a later stage reports at the place of a value", "[deck]") {
  const Deck checked = Deck::parse("n: 3\n", "a.yaml", every_type(), {});
  deck::Findings findings = checked.findings();

  findings.error(checked.root().position("n"), "three is too many", "take two");

  CHECK(findings.text() ==
        "a.yaml:1:4: error: three is too many; take two\n 1 | n: 3\n   |    ^\n1 error\n");
}

TEST_CASE("reading a key the schema does not have is a bug of the reader", "[deck]") {
  const Section root = read("n: 3\n");

  CHECK_THROWS_AS(root.integer("m"), InternalError);
  CHECK_THROWS_AS(root.text("n"), InternalError);
  CHECK_THROWS_AS(root.bytes("time"), InternalError);
  CHECK_THROWS_AS(read("n: auto").integer("n"), InternalError);
  CHECK_FALSE(Section().has("n"));
}

TEST_CASE("a section keeps its deck alive", "[deck]") {
  Section inner;
  {
    const Section root = read("inner: {size: 8}\n");
    inner = root.section("inner");
  }

  CHECK(inner.integer("size") == 8);
}

}  // namespace zygos::test_value
