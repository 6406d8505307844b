// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/policies/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace zygos::policies {

namespace {

/// Numbers with more digits than anyone reads are rounded.
std::string short_text(const std::string& value) {
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  const bool is_number = end != value.c_str() && *end == '\0';
  return is_number && value.size() > 5 ? fmt::format("{:.3g}", number) : value;
}

}  // namespace

std::string PolicyChoice::label() const {
  std::string text;
  for (const auto& [key, value] : options) {
    if (key == "cuts" || key == "lanes") {
      continue;
    }
    const bool says_itself = key == "lane" || key == "exchange";
    const bool is_section = value.starts_with('{');
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", says_itself ? "" : key,
                        is_section ? "" : (says_itself ? "" : " ") + short_text(value));
  }
  return text.empty() ? keyword : fmt::format("{}({})", keyword, text);
}

std::string PolicyChoice::deck_line() const {
  std::string text = "policy: {type: " + keyword;
  for (const auto& [key, value] : options) {
    text += fmt::format(", {}: {}", key, value);
  }
  return text + "}";
}

train::PolicyOptions merged(train::PolicyOptions options, const train::PolicyOptions& added) {
  for (const auto& option : added) {
    const auto found =
        std::ranges::find(options, option.first, [](const auto& o) { return o.first; });
    if (found == options.end()) {
      options.push_back(option);
    } else {
      found->second = option.second;
    }
  }
  return options;
}

}  // namespace zygos::policies
