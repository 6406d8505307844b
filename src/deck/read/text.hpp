// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Small text tools of the deck: UTF-8, quoting for messages, the nearest word.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::deck {

/// Byte offset of the first byte that is not UTF-8; none if all of it is.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);
/// Number of code points.
std::size_t count_characters(std::string_view text);
/// At most `most` code points, with "..." if something was cut; tabs as spaces, what can't be
/// printed as '?'.
std::string shown(std::string_view text, std::size_t most = 60);
/// shown() in single quotes.
std::string in_quotes(std::string_view text);
bool contains(const std::vector<std::string>& words, std::string_view word);
/// "a, b, c"
std::string join(const std::vector<std::string>& words, std::string_view separator = ", ");
/// Without blanks, tabs and line feeds at either end.
std::string_view trimmed(std::string_view text);
/// Letters of ASCII in lower case, all else as it is.
std::string lower_case(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
/// The lines without their line feeds; at least one.
std::vector<std::string_view> split_lines(std::string_view text);

/// Damerau-Levenshtein distance (optimal string alignment), or `limit` + 1 if it is larger.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);
/// The candidate nearest to `word`, ignoring case: at most two edits, fewer for short words.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);
/// "did you mean 'x'?", or "allowed: x, y, z" if nothing is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

/// Letters, digits, '_' and '-', beginning with a letter: what names lanes and layers.
bool is_name(std::string_view text);

}  // namespace zygos::deck
