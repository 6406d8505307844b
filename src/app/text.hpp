// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers as people read them. Plain ASCII, so that logs survive every terminal and pager.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::app {

/// "850 ns", "12.3 us", "1.23 ms", "4.56 s", "1 min 05 s", "2 h 03 min"; "-" for no value (NaN).
std::string text_of_seconds(double seconds);
/// "101,770"
std::string text_of_count(std::int64_t count);
/// Samples per second without decimals, grouped: "54,321"; three digits below 100: "7.25".
std::string text_of_rate(double per_second);
/// "98.13 %"
std::string text_of_percent(double fraction);
/// "1.43x"
std::string text_of_speedup(double ratio);
/// What stands between commas outside brackets, braces and quotes, without leading blanks; at least
/// one piece.
std::vector<std::string> split_at_commas(std::string_view text);
/// As text or attribute of HTML or SVG.
std::string escaped_markup(std::string_view text);
/// One line of at most `columns` characters, the rest cut off.
std::string fitted(const std::string& line, std::size_t columns);

}  // namespace zygos::app
