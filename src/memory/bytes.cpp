// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/memory/bytes.hpp"

#include <array>
#include <cstdio>

namespace zygos::memory {

std::string text_of_bytes(std::size_t bytes) {
  constexpr std::array<const char*, 5> units{"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) {
    return std::to_string(bytes) + " B";
  }
  double value = static_cast<double>(bytes) / 1024.0;
  std::size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < units.size()) {
    value /= 1024.0;
    ++unit;
  }
  std::array<char, 48> text{};
  // Two digits matter once a unit is large: 1.25 GiB against a budget of 1.21 GiB.
  std::snprintf(text.data(), text.size(), "%.*f %s", unit < 2 ? 1 : 2, value, units[unit]);
  return text.data();
}

}  // namespace zygos::memory
