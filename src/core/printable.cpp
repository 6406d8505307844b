// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/printable.hpp"

#include <algorithm>

namespace zygos {

namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

/// Of a well-formed code point.
unsigned value_of(std::string_view code_point) {
  if (code_point.size() == 1) {
    return byte_at(code_point, 0);
  }
  unsigned value = byte_at(code_point, 0) & (0xFFU >> (code_point.size() + 1));
  for (std::size_t i = 1; i < code_point.size(); ++i) {
    value = value << 6U | (byte_at(code_point, i) & 0x3FU);
  }
  return value;
}

}  // namespace

std::size_t code_point_length(std::string_view text) {
  if (text.empty()) {
    return 0;
  }
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) {
    return 1;
  }
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, i) & 0xC0U) != 0x80U) {
      return 0;
    }
  }
  // No overlong forms, no surrogates, nothing above U+10FFFF.
  const unsigned second = byte_at(text, 1);
  const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                     (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return wrong ? 0 : length;
}

bool steers_terminal(std::string_view code_point) {
  const unsigned value = value_of(code_point);
  const bool control = value < 0x20 || (value >= 0x7F && value < 0xA0);
  const bool direction = value == 0x061C || value == 0x200E || value == 0x200F ||
                         (value >= 0x202A && value <= 0x202E) ||
                         (value >= 0x2066 && value <= 0x2069);
  const bool separator = value == 0x2028 || value == 0x2029;
  return control || direction || separator;
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = code_point_length(text);
    const std::string_view code_point = text.substr(0, std::max<std::size_t>(length, 1));
    const bool stays = code_point == "\n" || code_point == "\t";
    const bool harmful = !stays && (length == 0 || steers_terminal(code_point));
    result += harmful ? std::string_view("?") : code_point;
    text.remove_prefix(code_point.size());
  }
  return result;
}

}  // namespace zygos
