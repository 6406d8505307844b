// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <system_error>

namespace zygos::test {

/// Where thousands of small writes and fsyncs cost nothing: in memory, if the system has such a
/// place with room (a container may give it 64 MiB alone); else the folder of temporary files.
inline std::filesystem::path quick_directory() {
  constexpr std::uintmax_t room = std::uintmax_t{2} << 30;
  const std::filesystem::path memory = "/dev/shm";
  std::error_code none;
  const auto space = std::filesystem::space(memory, none);
  return !none && space.available >= room && ::access(memory.c_str(), W_OK) == 0
             ? memory
             : std::filesystem::temp_directory_path();
}

}  // namespace zygos::test
