// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Slips that are common in keys, and what was meant.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::deck {

/// A key and its value that YAML reads as one word: "batch:20", "batch = 20".
struct GluedPair {
  std::string key;
  std::string rewritten;  ///< "batch: 20"
  std::size_t at = 0;     ///< byte of the ':' or '='
  char separator = ':';
};

std::optional<GluedPair> glued_pair(std::string_view text);

/// The allowed key that an unknown one most likely stands for: the nearest one, that of a glued
/// pair, or the only one that has all its words or lends it all of its own ("batch_size", "rate").
std::optional<std::string> meant_key(std::string_view key, const std::vector<std::string>& allowed);

}  // namespace zygos::deck
