// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Whatever a deck's bytes are, the answer is a checked deck or a DeckError: no crash, no other
// exception, and no byte on the terminal that could do harm there.
#include "sample_tables.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace zygos::test_mutated_decks {

namespace {

std::vector<std::string> seeds() {
  std::vector<std::string> texts = {test::sample_deck};
  for (const char* folder : {"tests/decks/bad", "inputs"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".yaml") {
        std::ifstream stream(entry.path(), std::ios::binary);
        std::ostringstream text;
        text << stream.rdbuf();
        texts.push_back(text.str());
      }
    }
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  void mutate(std::string& text, const std::string& other) {
    static const std::string marks = "{}[],:-?!&*#|>'\"%@`~<= \t\n\r\\0e.x$";
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = std::min(below(12), text.size() - at);
    switch (below(6)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, 1, marks[below(marks.size())]);
        break;
      case 2:
        text.insert(at, 1, static_cast<char>(below(256)));
        break;
      case 3:
        text.insert(at, text.substr(below(text.size() + 1), 1 + below(40)));
        break;
      case 4:
        text.insert(at, other.substr(below(other.size() + 1), 1 + below(60)));
        break;
      default:
        text.insert(at, std::string(1 + below(80), marks[below(marks.size())]));
    }
  }

 private:
  std::mt19937 random_;
};

bool is_clean(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n') || byte == 0x7F;
  });
}

/// Whether the text is a deck; anything but DeckError and InternalError escapes.
bool accepted(const std::string& text, const deck::Schema& schema,
              const std::vector<std::string>& overrides) {
  try {
    const deck::Deck read = deck::Deck::parse(text, "mutated.yaml", schema, overrides);
    run_spec(read);
    const deck::Deck again = deck::Deck::parse(read.resolved(), "deck.yaml", schema);
    CHECK(deck::differences(read.resolved(), again.resolved()).empty());
    return true;
  } catch (const deck::DeckError& error) {
    CHECK(!error.findings().empty());
    CHECK(is_clean(error.what()));
    return false;
  }
}

}  // namespace

TEST_CASE("no bytes of a deck lead to anything but a deck or findings", "[deck]") {
  const deck::Schema schema = test::sample_schema();
  const std::vector<std::string> texts = seeds();
  Mutator mutator(20260101);
  std::size_t good = 0;

  for (int i = 0; i < 6000; ++i) {
    std::string text = texts[mutator.below(texts.size())];
    const std::size_t rounds = 1 + mutator.below(6);
    for (std::size_t round = 0; round < rounds; ++round) {
      mutator.mutate(text, texts[mutator.below(texts.size())]);
    }
    INFO("deck number " << i << "\n" << text);
    good += accepted(text, schema, {}) ? 1U : 0U;
  }

  CHECK(good > 0);
}

TEST_CASE("no bytes of an override lead to anything but a deck or findings", "[deck]") {
  const deck::Schema schema = test::sample_schema();
  const std::vector<std::string> good = {
      "train.batch=64",   "model.layers.dense1.units=3", "lanes.device={kind: emulated}",
      "policy.share=0.5", "model.input=[784]",           "checkpoint.every=10 min"};
  Mutator mutator(7);

  for (int i = 0; i < 3000; ++i) {
    std::string argument = good[mutator.below(good.size())];
    mutator.mutate(argument, good[mutator.below(good.size())]);
    INFO("override " << argument);
    try {
      accepted(test::sample_deck, schema, {argument, "seed=2"});
    } catch (const UsageError&) {
      // Bytes that are no UTF-8 have no place to point at.
    }
  }
}

TEST_CASE("the largest decks are answered in a minute of CPU time", "[deck]") {
  const deck::Schema schema = test::sample_schema();
  const std::clock_t begin = std::clock();
  std::string keys;
  for (int i = 0; i < 90'000; ++i) {
    keys += "key_number_" + std::to_string(i) + ": 1\n";
  }
  std::string one_line = "{";
  for (int i = 0; i < 90'000; ++i) {
    one_line += "k" + std::to_string(i) + ": 1, ";
  }

  CHECK_FALSE(accepted(keys, schema, {}));
  CHECK_FALSE(accepted(one_line + "}", schema, {}));
  CHECK_FALSE(accepted(std::string(4'000'000, 'x'), schema, {}));
  CHECK_FALSE(accepted(std::string(1'000'000, '['), schema, {}));
  CHECK_FALSE(accepted("name: " + std::string(4'000'000, 'x'), schema, {}));

  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  CHECK(seconds < 60.0);
}

}  // namespace zygos::test_mutated_decks
