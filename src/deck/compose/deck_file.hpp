// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace zygos::deck {

/// Why a file can't be read as a deck; nothing if it can.
std::optional<std::string> reading_problem(const std::filesystem::path& file);
/// At most one byte more than a deck may have, which shows that there is more. The file "-" is
/// standard input. Throws UsageError if it can't be read.
std::string deck_text(const std::filesystem::path& file);
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace zygos::deck
