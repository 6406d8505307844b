// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// How good the suggestions are: every key and every word of a choice, with one or two slips of the
// hand, must be answered at its place with the word that was meant.
#include "deck/read/text.hpp"
#include "deck_writer.hpp"
#include "messages.hpp"
#include "sample_tables.hpp"

#include "zygos/core/philox.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace zygos::test_suggestions {
using test::DeckWriter;
using test::WrittenKey;

namespace {

/// Slips at random: the same ones on every machine.
class Slips {
 public:
  std::string slip(std::string word) {
    const std::size_t at = below(word.size());
    const char letter = static_cast<char>('a' + below(26));
    switch (below(4)) {
      case 0:
        word.erase(at, 1);
        break;
      case 1:
        word.insert(at, 1, letter);
        break;
      case 2:
        word[at] = letter;
        break;
      default:
        if (at + 1 < word.size()) {
          std::swap(word[at], word[at + 1]);
        }
    }
    return word;
  }

 private:
  std::size_t below(std::size_t limit) {
    const PhiloxBlock block = random_block({20260101, RngPurpose::noise, 0}, ++drawn_, 0);
    return block.v[0] % limit;
  }

  std::uint64_t drawn_ = 0;
};

struct Score {
  std::size_t decks = 0;
  std::size_t right = 0;
  std::string wrong;  ///< for the reader of a failed test

  double share() const { return static_cast<double>(right) / static_cast<double>(decks); }
};

/// A word of a deck that can be misspelt, counted from 0.
struct Target {
  std::size_t line;
  std::size_t column;
  std::string word;
};

std::vector<Target> keys_of(const DeckWriter& writer) {
  std::vector<Target> targets;
  for (const WrittenKey& key : writer.keys()) {
    const bool named_by_user = key.facts.name == "first";
    if (!named_by_user) {
      targets.push_back({key.line, key.column, key.facts.name});
    }
  }
  return targets;
}

std::vector<Target> choices_of(const DeckWriter& writer) {
  std::vector<Target> targets;
  for (const WrittenKey& key : writer.keys()) {
    if (key.facts.type == deck::Type::choice) {
      const std::string& line = writer.lines()[key.line];
      targets.push_back({key.line, key.value_column(), line.substr(key.value_column())});
    }
  }
  return targets;
}

class Examiner {
 public:
  explicit Examiner(std::size_t slips) : slips_(slips) {}

  void examine(const DeckWriter& writer, const std::vector<Target>& targets) {
    for (const Target& target : targets) {
      std::string word = target.word;
      for (std::size_t i = 0; i < slips_; ++i) {
        word = hand_.slip(word);
      }
      const std::size_t distance = deck::edit_distance(word, target.word, slips_);
      if (!word.empty() && distance == slips_) {
        examine_word(writer, target, word);
      }
    }
  }

  const Score& score() const { return score_; }

 private:
  void examine_word(const DeckWriter& writer, const Target& target, const std::string& word) {
    auto lines = writer.lines();
    lines[target.line].replace(target.column, target.word.size(), word);
    const auto found = test::findings_of(DeckWriter::text_of(lines), schema_);
    if (found.empty()) {
      return;  // a slip that led to another word that is allowed
    }
    const std::string place =
        std::to_string(target.line + 1) + ":" + std::to_string(target.column + 1) + " ";
    const bool at_place = std::any_of(found.begin(), found.end(),
                                      [&](const auto& line) { return line.starts_with(place); });
    INFO(word << " for " << target.word << " at " << place << "\n" << found.front());
    CHECK(at_place);
    const bool right =
        found.size() == 1 && found.front().ends_with("did you mean '" + target.word + "'?");
    ++score_.decks;
    score_.right += right ? 1U : 0U;
    score_.wrong += right ? "" : word + " for " + target.word + ": " + found.front() + "\n";
  }

  const deck::Schema schema_ = test::sample_schema();
  std::size_t slips_;
  Slips hand_;
  Score score_;
};

Score examine(std::vector<Target> (*targets_of)(const DeckWriter&), std::size_t slips,
              std::size_t rounds) {
  const deck::Schema schema = test::sample_schema();
  Examiner examiner(slips);
  for (std::size_t which = 0; which < 3; ++which) {
    const DeckWriter writer(schema, which);
    const std::vector<Target> targets = targets_of(writer);
    for (std::size_t round = 0; round < rounds; ++round) {
      examiner.examine(writer, targets);
    }
  }
  return examiner.score();
}

}  // namespace

TEST_CASE("a key with one slip is answered with the key that was meant", "[deck]") {
  const Score score = examine(keys_of, 1, 8);

  INFO(score.wrong);
  CHECK(score.decks > 500);
  CHECK(score.share() >= 0.99);
}

TEST_CASE("a key with two slips is answered with the key that was meant", "[deck]") {
  const Score score = examine(keys_of, 2, 8);

  INFO(score.wrong);
  CHECK(score.decks > 500);
  CHECK(score.share() >= 0.95);
}

TEST_CASE("a word of a choice with one slip is answered with the word that was meant", "[deck]") {
  const Score score = examine(choices_of, 1, 20);

  INFO(score.wrong);
  CHECK(score.decks > 200);
  CHECK(score.share() >= 0.95);
}

}  // namespace zygos::test_suggestions
