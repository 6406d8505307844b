// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "load/natural_order.hpp"

#include <algorithm>

namespace zygos::load {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Cuts the number from the begin of the text; without leading zeros.
std::string_view take_number(std::string_view& text) {
  const auto* const end = std::ranges::find_if_not(text, is_digit);
  std::string_view number = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(number.size());
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

}  // namespace

bool natural_less(std::string_view one, std::string_view other) {
  while (!one.empty() && !other.empty()) {
    if (is_digit(one.front()) && is_digit(other.front())) {
      const std::string_view left = take_number(one);
      const std::string_view right = take_number(other);
      if (left != right) {
        return left.size() != right.size() ? left.size() < right.size() : left < right;
      }
    } else if (one.front() != other.front()) {
      return one.front() < other.front();
    } else {
      one.remove_prefix(1);
      other.remove_prefix(1);
    }
  }
  return one.size() < other.size();
}

}  // namespace zygos::load
