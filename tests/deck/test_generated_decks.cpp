// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Decks that the schema itself spells out: every key of it, made wrong in every way there is.
#include "deck/describe/describe.hpp"
#include "deck/read/quantities.hpp"
#include "deck_writer.hpp"
#include "messages.hpp"
#include "sample_tables.hpp"

#include <catch2/catch_test_macros.hpp>

#include <optional>
#include <string>
#include <vector>

namespace zygos::test_generated_decks {
using deck::KeyFacts;
using deck::Type;
using test::DeckWriter;
using test::WrittenKey;

namespace {

/// A place, counted from 1, and words that must stand in the message there.
struct Expected {
  std::size_t line;
  std::size_t column;
  std::string words;
};

class Breaker {
 public:
  Breaker(const deck::Schema& schema, std::size_t which)
      : schema_(schema), writer_(schema, which) {}

  const DeckWriter& writer() const { return writer_; }
  std::size_t decks() const { return decks_; }

  void misspell(const WrittenKey& key) {
    auto lines = writer_.lines();
    lines[key.line].insert(key.column + key.facts.name.size(), 1, key.facts.name.back());
    expect(lines, {key.line + 1, key.column + 1, "did you mean '" + key.facts.name + "'?"});
    const bool can_swap = key.facts.name.size() > 3 && key.facts.name[1] != key.facts.name[2];
    if (can_swap) {
      lines = writer_.lines();
      std::swap(lines[key.line][key.column + 1], lines[key.line][key.column + 2]);
      expect(lines, {key.line + 1, key.column + 1, "did you mean '" + key.facts.name + "'?"});
    }
  }

  void duplicate(const WrittenKey& key) {
    auto lines = writer_.lines();
    const std::string again = std::string(key.column, ' ') + key.facts.name + ": 1";
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(key.end), again);
    expect(lines, {key.end + 1, key.column + 1,
                   "duplicate key '" + key.facts.name + "'; first given in line " +
                       std::to_string(key.line + 1)});
  }

  void leave_out(const WrittenKey& key) {
    auto lines = writer_.lines();
    const auto begin = lines.begin();
    lines.erase(begin + static_cast<std::ptrdiff_t>(key.line),
                begin + static_cast<std::ptrdiff_t>(key.end));
    const bool in_section = key.parent_line < key.line && !key.first_of_element;
    const bool was_only_key =
        in_section && key.column > 0 && key.parent_column < key.column &&
        lines[key.parent_line + 1].find_first_not_of(' ') <= key.parent_column;
    expect(lines, {key.parent_line + 1, key.parent_column + 1,
                   was_only_key ? "must be a section, found nothing"
                                : "missing key '" + key.facts.name + "'"});
  }

  void replace(const WrittenKey& key, const std::string& value, const std::string& words) {
    auto lines = writer_.lines();
    const auto begin = lines.begin();
    lines[key.line].resize(key.value_column() - 1);
    lines[key.line] += " " + value;
    lines.erase(begin + static_cast<std::ptrdiff_t>(key.line) + 1,
                begin + static_cast<std::ptrdiff_t>(key.end));
    expect(lines, {key.line + 1, key.value_column() + 1, words});
  }

 private:
  void expect(const std::vector<std::string>& lines, const Expected& expected) {
    ++decks_;
    const std::string text = DeckWriter::text_of(lines);
    const std::string place =
        std::to_string(expected.line) + ":" + std::to_string(expected.column) + " ";
    bool found = false;
    std::string all;
    for (const std::string& line : test::findings_of(text, schema_)) {
      found = found || (line.starts_with(place) && line.find(expected.words) != std::string::npos);
      all += line + "\n";
    }
    INFO(text);
    INFO("expected " << place << expected.words << "\nfound\n" << all);
    CHECK(found);
  }

  const deck::Schema& schema_;
  DeckWriter writer_;
  std::size_t decks_ = 0;
};

std::optional<std::string> value_out_of_range(const KeyFacts& facts) {
  const bool number = facts.type == Type::integer || facts.type == Type::real;
  if (!number || (!facts.range.least && !facts.range.most)) {
    return std::nullopt;
  }
  const double value = facts.range.least ? *facts.range.least - 1.0 : *facts.range.most + 1.0;
  return deck::text_of(value);
}

/// Fits no type of a scalar, list or section.
std::string value_of_wrong_type(const KeyFacts& facts) {
  if (facts.type == Type::texts && facts.or_single) {
    return "{a: 1}";  // a text alone is right
  }
  const bool takes_scalars = facts.schemas.empty() && facts.type != Type::integers &&
                             facts.type != Type::reals && facts.type != Type::texts &&
                             facts.name != "first";
  return takes_scalars ? "[[]]" : "'?'";
}

void break_key(Breaker& breaker, const WrittenKey& key) {
  const KeyFacts& facts = key.facts;
  breaker.misspell(key);
  breaker.duplicate(key);
  breaker.replace(key, value_of_wrong_type(facts), "must be");
  if (deck::is_required(facts)) {
    breaker.leave_out(key);
  }
  if (const auto value = value_out_of_range(facts)) {
    breaker.replace(key, *value, "must be " + deck::range_text(facts.range));
  }
  if (facts.type == Type::quantity) {
    breaker.replace(key, "7", "needs a unit");
    breaker.replace(key, "7 parsecs", "unknown unit 'parsecs'");
    const bool is_size = facts.units.front() == deck::Unit::bytes;
    breaker.replace(key, is_size ? "7 min" : "7 MiB", "found the");
  }
  if (facts.type == Type::choice) {
    breaker.replace(key, facts.choices.front() + "x",
                    "did you mean '" + facts.choices.front() + "'?");
  }
}

}  // namespace

TEST_CASE("a deck with every key of the schema is accepted", "[deck]") {
  const deck::Schema schema = test::sample_schema();

  for (std::size_t which = 0; which < 6; ++which) {
    const std::string text = DeckWriter::text_of(DeckWriter(schema, which).lines());
    INFO(text);
    CHECK(test::findings_of(text, schema) == test::Lines{});
  }
}

TEST_CASE("every key made wrong in every way is found at its place", "[deck]") {
  const deck::Schema schema = test::sample_schema();
  std::size_t decks = 0;

  for (std::size_t which = 0; which < 6; ++which) {
    Breaker breaker(schema, which);
    for (const WrittenKey& key : breaker.writer().keys()) {
      const bool users_name = key.facts.name == "first" || key.first_of_element;
      if (!users_name) {
        break_key(breaker, key);
      }
    }
    decks += breaker.decks();
  }

  CHECK(decks > 1000);
}

}  // namespace zygos::test_generated_decks
