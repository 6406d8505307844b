// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/atomic_file.hpp"

#include "io/files/file_sync.hpp"
#include "io/files/pending_file.hpp"

namespace zygos::io {

void write_file_atomically(const std::filesystem::path& file, std::string_view text) {
  PendingFile pending(file);
  write_file_durably(pending.beside(), bytes_of(text));
  pending.publish();
}

}  // namespace zygos::io
