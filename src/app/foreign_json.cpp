// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/foreign_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace zygos::app {

namespace {

/// Of brackets outside of strings; the text need not be JSON.
int depth_of(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '{' || c == '[')) {
      deepest = std::max(deepest, ++depth);
    } else if (!in_string && (c == '}' || c == ']')) {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

nlohmann::json foreign_json(std::string_view text) {
  if (depth_of(text) > max_json_depth) {
    return nlohmann::json(nlohmann::json::value_t::discarded);
  }
  return nlohmann::json::parse(text, nullptr, false);
}

}  // namespace zygos::app
