// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace zygos::app {

namespace {

std::string long_time(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) {
    return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  }
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace

std::string text_of_seconds(double seconds) {
  if (!std::isfinite(seconds)) {
    return "-";
  }
  if (seconds >= 59.5) {
    return long_time(seconds);
  }
  if (seconds >= 10.0) {
    return fmt::format("{:.1f} s", seconds);
  }
  if (seconds >= 1.0 || seconds == 0.0) {
    return fmt::format("{:.2f} s", seconds);
  }
  if (seconds >= 1e-3) {
    return fmt::format("{:.3g} ms", seconds * 1e3);
  }
  if (seconds >= 1e-6) {
    return fmt::format("{:.3g} us", seconds * 1e6);
  }
  return fmt::format("{:.3g} ns", seconds * 1e9);
}

std::string text_of_count(std::int64_t count) {
  std::string digits = fmt::format("{}", count < 0 ? -count : count);
  for (auto place = static_cast<std::ptrdiff_t>(digits.size()) - 3; place > 0; place -= 3) {
    digits.insert(static_cast<std::size_t>(place), 1, ',');
  }
  return count < 0 ? "-" + digits : digits;
}

std::string text_of_rate(double per_second) {
  if (!std::isfinite(per_second)) {
    return "-";
  }
  if (per_second < 100.0) {
    return fmt::format("{:.3g}", per_second);
  }
  return text_of_count(std::llround(per_second));
}

std::string text_of_percent(double fraction) { return fmt::format("{:.2f} %", 100.0 * fraction); }

std::string text_of_speedup(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:.2f}x", ratio) : "-";
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> pieces{""};
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0 || c == '"' || c == '\'') {
      quote = quote == 0 ? c : quote == c ? '\0' : quote;
    } else {
      depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    }
    if (c == ',' && depth == 0 && quote == 0) {
      pieces.emplace_back();
    } else if (c != ' ' || !pieces.back().empty()) {
      pieces.back() += c;
    }
  }
  return pieces;
}

std::string escaped_markup(std::string_view text) {
  static const std::map<char, std::string> entities{
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  std::string out;
  for (const char c : text) {
    const auto entity = entities.find(c);
    out += entity == entities.end() ? std::string(1, c) : entity->second;
  }
  return out;
}

std::string fitted(const std::string& line, std::size_t columns) {
  return line.size() <= columns ? line : line.substr(0, columns);
}

}  // namespace zygos::app
