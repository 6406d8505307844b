// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/read/slips.hpp"

#include "deck/read/text.hpp"

#include <algorithm>

namespace zygos::deck {
namespace {

/// Whether every word of `few` is one of `many`.
bool has_words(std::string_view many, std::string_view few) {
  const auto all = split(many, '_');
  const auto wanted = split(few, '_');
  return std::all_of(wanted.begin(), wanted.end(), [&](std::string_view word) {
    return std::find(all.begin(), all.end(), word) != all.end();
  });
}

}  // namespace

std::optional<GluedPair> glued_pair(std::string_view text) {
  const std::size_t at = text.find_first_of(":=");
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view key = trimmed(text.substr(0, at));
  const std::string_view value = trimmed(text.substr(at + 1));
  if (!is_name(key) || value.empty()) {
    return std::nullopt;
  }
  return GluedPair{std::string(key), std::string(key) + ": " + std::string(value), at, text[at]};
}

std::optional<std::string> meant_key(std::string_view key,
                                     const std::vector<std::string>& allowed) {
  if (auto near = nearest(key, allowed)) {
    return near;
  }
  if (const auto pair = glued_pair(key)) {
    const bool known = std::find(allowed.begin(), allowed.end(), pair->key) != allowed.end();
    return known ? std::optional(pair->key) : nearest(pair->key, allowed);
  }
  std::optional<std::string> only;
  for (const std::string& candidate : allowed) {
    if (has_words(candidate, key) || has_words(key, candidate)) {
      if (only) {
        return std::nullopt;
      }
      only = candidate;
    }
  }
  return only;
}

}  // namespace zygos::deck
