// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Text that comes from elsewhere (decks, file names, data, manifests), made safe to print.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace zygos {

/// Bytes of the well-formed UTF-8 code point at the front of `text`, 0 if there is none (Unicode
/// 15, table 3-7).
std::size_t code_point_length(std::string_view text);

/// Whether the code point `text` steers a terminal or reorders what it shows: control characters
/// (C0, DEL, C1), direction marks and overrides, line and paragraph separators.
bool steers_terminal(std::string_view code_point);

/// The text with a '?' for every code point that steers a terminal, and for every byte that is not
/// UTF-8; line feeds and tabs stay.
std::string printable(std::string_view text);

}  // namespace zygos
