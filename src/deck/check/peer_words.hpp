// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What PyTorch and Keras call things, so that a deck written from memory gets the right answer.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::deck {

/// A word of a peer in lower case without separators, and ours.
struct PeerWord {
  std::string_view peer;
  std::string_view ours;
};

/// All keys that are known of peers.
std::span<const PeerWord> peer_keys();
/// All words that peers have for one of several choices, such as types of layers and losses.
std::span<const PeerWord> peer_choices();
/// Functions that are no part of Zygos, with the layer whose curve is the closest.
std::span<const PeerWord> peer_functions();

/// The one of `allowed` that a key in the words of another program means, if there is one.
std::optional<std::string> meant_by_peer(std::string_view key,
                                         const std::vector<std::string>& allowed);

/// The path, "train.accumulate", of what a key in the words of another program means, where that is
/// in one section and Zygos has it in another.
std::optional<std::string> path_for_peer_key(std::string_view key);

/// What to do about a key in the words of another program: "write learning_rate", or why there is
/// no such key; nothing if the word is unknown or its meaning is not among `allowed`.
std::optional<std::string> advice_for_peer_key(std::string_view key,
                                               const std::vector<std::string>& allowed);

/// The same for a word that is given where one of `choices` must stand.
std::optional<std::string> advice_for_peer_choice(std::string_view word,
                                                  const std::vector<std::string>& choices);

}  // namespace zygos::deck
