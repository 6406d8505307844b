// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace zygos::io {

/// Replaces `file` as a whole: whoever reads it, also after a crash or power loss, finds the old
/// text or the new one. Written beside as ".<name>.tmp-<unique>", fsynced, renamed. Throws IoError
/// (path and cause) with the old file untouched. Mode 0640 less the umask.
void write_file_atomically(const std::filesystem::path& file, std::string_view text);

}  // namespace zygos::io
