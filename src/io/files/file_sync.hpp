// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// File operations that either happened durably or throw IoError with path and cause. After a failed
// fsync nothing is tried again on the same file: the kernel may have dropped its dirty pages, and a
// second fsync would report success for bytes that are gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace zygos::io {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) noexcept : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor();

  int get() const noexcept { return value_; }
  explicit operator bool() const noexcept { return value_ >= 0; }
  /// Closes now; false (and errno) if the system reports an error of an earlier write only here.
  bool close() noexcept;

 private:
  int value_ = -1;
};

/// Creates `file` (it must not exist; mode 0640 less the umask), writes all of `bytes`, fsyncs.
void write_file_durably(const std::filesystem::path& file, std::span<const std::byte> bytes);

/// Creates `file` (it must not exist; mode 0640 less the umask) for writing.
Descriptor create_file(const std::filesystem::path& file);
/// How many of `bytes` the system has taken; errno says why if these are not all.
std::size_t write_until_refused(const Descriptor& file, std::span<const std::byte> bytes) noexcept;
/// All of them. `name` is for the message.
void write_all(const Descriptor& file, const std::filesystem::path& name,
               std::span<const std::byte> bytes);
/// fsyncs and closes a file that was written with write_all().
void close_durably(Descriptor& file, const std::filesystem::path& name);
/// fsyncs what was written to `file`, by whomever.
void sync_file(const std::filesystem::path& file);

/// Makes the names in `directory` durable.
void sync_directory(const std::filesystem::path& directory);

/// Creates whatever is missing of `directory`, each level durably, mode 0750 less the umask.
void make_directories_durably(const std::filesystem::path& directory);

/// Renames and fsyncs the parent directory (both are in the same one).
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

/// Swaps two names at once and fsyncs their parent. False if the file system cannot do that.
bool exchange_durably(const std::filesystem::path& a, const std::filesystem::path& b);

/// Throws IoError that says how many bytes are missing if `free` is less than `needed`.
void require_space(const std::filesystem::path& directory, std::uint64_t needed,
                   std::uint64_t free);
/// What an ordinary user may still write under `directory`. Quotas are not known to it.
std::uint64_t free_bytes(const std::filesystem::path& directory);

/// Opens a regular file for reading; no links, no waiting for pipes. Throws IoError with the cause.
Descriptor open_regular(const std::filesystem::path& file, std::uint64_t& size);

/// Passes the bytes of `file`, piece by piece, to `take` until that returns false or they end.
/// Throws IoError.
void read_pieces(const Descriptor& file, const std::filesystem::path& name,
                 std::span<std::byte> buffer,
                 const std::function<bool(std::span<const std::byte>)>& take);

/// A word that no other call, process or host makes again in practice.
std::string unique_suffix();

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace zygos::io
