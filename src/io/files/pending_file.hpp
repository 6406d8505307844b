// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/files/file_sync.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace zygos::io {

/// Throws IoError unless the directory is there that `file` would be written into.
void require_folder_of(const std::filesystem::path& file);

/// A file that is written under another name beside its own, and removed unless it is committed.
class PendingFile {
 public:
  explicit PendingFile(std::filesystem::path file);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  const std::filesystem::path& beside() const noexcept { return beside_; }
  /// fsyncs what was written and gives the file its name. Throws IoError.
  void commit();
  /// The same of what has been fsynced.
  void publish();

 private:
  std::filesystem::path file_;
  std::filesystem::path beside_;
  bool committed_ = false;
};

/// Bytes that go into a pending file through a buffer.
class PendingBytes {
 public:
  /// Throws IoError.
  explicit PendingBytes(const std::filesystem::path& file);
  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  void flush();

  PendingFile pending_;
  Descriptor out_;
  std::vector<std::byte> buffer_;
};

}  // namespace zygos::io
