// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Every word of PyTorch and Keras that is known leads to one that decks have.
#include "deck/check/peer_words.hpp"

#include "zygos/load/deck_file.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace zygos::test_peer_words {
namespace {

using deck::advice_for_peer_choice;
using deck::advice_for_peer_key;
using deck::PeerWord;
using Words = std::vector<std::string>;

/// Names of keys, and words of choices, anywhere in decks.
struct Vocabulary {
  std::set<std::string> keys;
  std::set<std::string> choices;

  void add(const deck::Schema& schema) {
    for (const deck::Key& key : schema.keys()) {
      const deck::KeyFacts& facts = key.facts();
      keys.insert(facts.name);
      choices.insert(facts.choices.begin(), facts.choices.end());
      for (const deck::Schema& inner : facts.schemas) {
        choices.insert(inner.name());
        add(inner);
      }
    }
  }
};

std::string meant(std::string_view ours) { return "did you mean '" + std::string(ours) + "'?"; }

std::string in_capitals(std::string word) {
  for (char& c : word) {
    c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return word;
}

const Words activations{"none", "relu", "tanh", "sigmoid"};

}  // namespace

TEST_CASE("every key of a peer leads to a key of decks, where it is allowed") {
  Vocabulary decks;
  decks.add(load::whole_schema());

  for (const PeerWord& word : deck::peer_keys()) {
    const std::string peer(word.peer);
    const std::string ours(word.ours);
    CAPTURE(peer, ours);
    CHECK(decks.keys.contains(ours));
    CHECK(advice_for_peer_key(peer, {"first", ours}) == meant(ours));
    CHECK_FALSE(advice_for_peer_key(peer, {"first"}).has_value());
    // As it is written elsewhere.
    CHECK(advice_for_peer_key(in_capitals(peer), {ours}) == meant(ours));
    CHECK(advice_for_peer_key(peer.substr(0, 1) + "_" + peer.substr(1), {ours}) == meant(ours));
  }
}

TEST_CASE("every choice of a peer leads to a choice of decks, where it is allowed") {
  Vocabulary decks;
  decks.add(load::whole_schema());

  for (const PeerWord& word : deck::peer_choices()) {
    const std::string peer(word.peer);
    const std::string ours(word.ours);
    CAPTURE(peer, ours);
    CHECK(decks.choices.contains(ours));
    CHECK(advice_for_peer_choice(peer, {"first", ours}) == meant(ours));
    CHECK(advice_for_peer_choice(peer + "_Loss", {"first", ours}) == meant(ours));
    CHECK_FALSE(advice_for_peer_choice(peer, {"first"}).has_value());
  }
}

TEST_CASE("a function that decks lack is answered with the layer that is closest") {
  Vocabulary decks;
  decks.add(load::whole_schema());

  for (const PeerWord& word : deck::peer_functions()) {
    const std::string peer(word.peer);
    const std::string ours(word.ours);
    CAPTURE(peer, ours);
    CHECK(decks.choices.contains(ours));
    const bool is_choice = std::ranges::find(activations, ours) != activations.end();
    CHECK(advice_for_peer_choice(peer, activations) ==
          (is_choice ? "the closest is '" + ours + "'"
                     : "the closest is a layer {type: " + ours + "} behind this one"));
    CHECK(advice_for_peer_choice(peer, {"dense", ours}) ==
          "the closest is a layer {type: " + ours + "}");
    CHECK_FALSE(advice_for_peer_choice(peer, {"adam", "sgd"}).has_value());
  }
}

TEST_CASE("words of PyTorch and Keras as people type them have their remedies") {
  const Words losses{"cross_entropy", "mse", "mae", "bce", "dice"};

  CHECK(advice_for_peer_key("lr", {"learning_rate", "momentum"}) == meant("learning_rate"));
  CHECK(advice_for_peer_key("in_features", {"units"}) == "leave it out: the layer before tells it");
  CHECK(advice_for_peer_choice("CrossEntropyLoss", losses) == meant("cross_entropy"));
  CHECK(advice_for_peer_choice("MSELoss", losses) == meant("mse"));
  CHECK(advice_for_peer_choice("L1Loss", losses) == meant("mae"));
  CHECK(advice_for_peer_choice("BCEWithLogitsLoss", losses) == meant("bce"));
  CHECK(advice_for_peer_choice("linear", activations) == meant("none"));
  CHECK(advice_for_peer_choice("Linear", {"dense", "relu"}) == meant("dense"));
  CHECK(advice_for_peer_choice("ReLU", activations) == meant("relu"));
  CHECK(advice_for_peer_choice("softmax", activations) ==
        "leave it out: the loss cross_entropy applies the softmax itself");
  CHECK(advice_for_peer_choice("SiLU", activations) == "put a layer {type: silu} behind this one");
  CHECK(advice_for_peer_choice("swish", activations) == "put a layer {type: silu} behind this one");
  CHECK(advice_for_peer_choice("GELU", activations) == "put a layer {type: gelu} behind this one");
  CHECK(advice_for_peer_choice("LeakyReLU", activations) ==
        "put a layer {type: leaky_relu} behind this one");
  CHECK_FALSE(advice_for_peer_choice("SiLU", {"none", "relu", "gelu"}).has_value());
  CHECK(advice_for_peer_choice("Swish", {"dense", "relu", "silu"}) == meant("silu"));
  CHECK(advice_for_peer_choice("SiLU", {"dense", "relu", "silu"}) == meant("silu"));
  CHECK(advice_for_peer_choice("Mish", {"dense", "relu", "silu"}) ==
        "the closest is a layer {type: silu}");
  CHECK_FALSE(advice_for_peer_choice("snake", activations).has_value());
}

}  // namespace zygos::test_peer_words
