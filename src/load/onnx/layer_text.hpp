// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace zygos::load {

/// "{type: dense, units: 3}"
inline std::string flow_text(const std::string& type,
                             const std::vector<std::pair<std::string, std::string>>& options) {
  std::string text = "{type: " + type;
  for (const auto& [key, value] : options) {
    text += ", " + key + ": " + value;
  }
  return text + "}";
}

}  // namespace zygos::load
