// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Keys by words of their descriptions, for those who do not know what a deck calls a thing.
#pragma once

#include "zygos/deck/schema.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace zygos::deck {

/// A key, or a keyword of a table, that a search has found.
struct FoundKey {
  std::string path;      ///< as explain() takes it
  std::string sentence;  ///< the first one of the description
};

/// Keys and keywords that have `words` for a name or in their description, case ignored: side by
/// side or, where no description has them so, each somewhere. First those of that name, then those
/// whose description begins with the words. Keys that several keywords describe alike are one.
/// Empty, too, for a path (with a '.') and for less than two letters.
std::vector<FoundKey> find_by_words(const Schema& schema, std::string_view words);

}  // namespace zygos::deck
