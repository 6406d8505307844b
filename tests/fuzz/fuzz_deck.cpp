// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/sample_tables.hpp"
#include "fuzz/fuzz_target.hpp"

#include "zygos/deck/deck.hpp"

namespace zygos::fuzz {

/// What is accepted has to be accepted again when it is written out.
void fuzz_deck(Bytes input) {
  static const deck::Schema schema = test::sample_schema();
  // Other files, and the standard input, are none of its bytes.
  if (text_of(input).find("include") != std::string_view::npos) {
    return;
  }
  may_refuse([&] {
    const deck::Deck read = deck::Deck::parse(text_of(input), "deck.yaml", schema);
    may_refuse([&] { deck::run_spec(read); });
    try {
      const deck::Deck again = deck::Deck::parse(read.resolved(), "deck.yaml", schema);
      ZYGOS_REQUIRE(deck::differences(read.resolved(), again.resolved()).empty(),
                    "a deck differs from what it was written as");
    } catch (const deck::DeckError& error) {
      throw InternalError(std::string("a deck that was written is refused: ") + error.what());
    }
  });
}

}  // namespace zygos::fuzz
