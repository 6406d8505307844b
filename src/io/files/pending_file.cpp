// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/files/pending_file.hpp"

#include "zygos/core/error.hpp"

#include <system_error>
#include <utility>

namespace zygos::io {
namespace {

constexpr std::size_t buffered = std::size_t{1} << 20;

}  // namespace

void require_folder_of(const std::filesystem::path& file) {
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  std::error_code unreadable;
  if (!std::filesystem::is_directory(folder, unreadable)) {
    throw IoError("cannot write " + file.string() + ": there is no directory " + folder.string());
  }
}

PendingFile::PendingFile(std::filesystem::path file)
    : file_(std::move(file)),
      beside_(file_.parent_path() / ("." + file_.filename().string() + ".tmp-" + unique_suffix())) {
}

PendingFile::~PendingFile() {
  if (!committed_) {
    std::error_code ignored;
    std::filesystem::remove(beside_, ignored);
  }
}

void PendingFile::commit() {
  sync_file(beside_);
  publish();
}

void PendingFile::publish() {
  rename_durably(beside_, file_);
  committed_ = true;
}

PendingBytes::PendingBytes(const std::filesystem::path& file)
    : pending_(file), out_(create_file(pending_.beside())) {
  buffer_.reserve(buffered);
}

void PendingBytes::write(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() > buffered) {
    flush();
  }
  if (bytes.size() > buffered) {
    return write_all(out_, pending_.beside(), bytes);
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void PendingBytes::flush() {
  write_all(out_, pending_.beside(), buffer_);
  buffer_.clear();
}

void PendingBytes::commit() {
  flush();
  pending_.commit();
}

}  // namespace zygos::io
