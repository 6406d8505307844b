// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/resident_memory.hpp"

#include <fstream>
#include <string>

namespace zygos::app {

std::optional<std::size_t> resident_peak_bytes() {
  const std::string key = "VmHWM:";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) {
      return std::stoull(line.substr(key.size())) * 1024;
    }
  }
  return std::nullopt;
}

}  // namespace zygos::app
