// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/atomic_file.hpp"

#include "io/file_sync.hpp"

#include <system_error>

namespace zygos::io {

void write_file_atomically(const std::filesystem::path& file, std::string_view text) {
  const auto beside =
      file.parent_path() / ("." + file.filename().string() + ".tmp-" + unique_suffix());
  try {
    write_file_durably(beside, bytes_of(text));
    rename_durably(beside, file);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(beside, ignored);
    throw;
  }
}

}  // namespace zygos::io
