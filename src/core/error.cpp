// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"

#include <filesystem>

namespace zygos::detail {

void fail_requirement(std::string_view condition, const std::string& message,
                      std::source_location where) {
  // Only the file's name: messages must not depend on where the sources were built.
  const auto file = std::filesystem::path(where.file_name()).filename().string();
  throw InternalError(message + " [" + std::string(condition) + " does not hold, " + file + ":" +
                      std::to_string(where.line()) + "]");
}

}  // namespace zygos::detail
