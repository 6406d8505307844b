// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a file, unpacked on the way when the file is gzip, in pieces of the caller's size.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace zygos::io {

/// The densest deflate code: 258 bytes from 2 bits, so 1032 from 8.
constexpr std::uint64_t deflate_ratio = 1032;
/// A header is believed without proof that so much memory is needed.
constexpr std::uint64_t trusted_bytes = std::uint64_t{64} << 20;

/// Text packs to a third or a tenth. A gzip file that unpacks to more than so many times its own
/// bytes, and this much more, was made to fill somebody's memory.
constexpr std::uint64_t text_ratio = 32;
constexpr std::uint64_t text_slack = std::uint64_t{16} << 20;

/// What a file is read as: text from gzip is bounded by the two numbers above, the formats whose
/// header says how much there is are held to that by their readers.
enum class Contents { counted, text };

/// Throws IoError if `file` is missing or may not be read, DataError if it is no regular file.
void require_readable_file(const std::filesystem::path& file);

class ByteSource {
 public:
  /// Throws IoError when the file cannot be opened or read, DataError when it is no regular file.
  explicit ByteSource(const std::filesystem::path& file, Contents contents = Contents::counted);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Fills `out` as far as there are bytes; less than out.size() only at the end, which also means
  /// that a gzip file's check sum was verified. Throws DataError for a damaged gzip stream, and for
  /// one of text that unpacks to too much.
  std::size_t read(std::span<std::byte> out);
  /// Reads and drops bytes until the end or until `limit` bytes were dropped; returns how many.
  std::uint64_t skip(std::uint64_t limit);

  bool compressed() const noexcept { return inflater_ != nullptr; }
  /// Size on disk.
  std::uint64_t file_bytes() const noexcept { return file_bytes_; }
  /// No gzip stream unpacks to more than this.
  std::uint64_t max_bytes() const noexcept;

 private:
  struct EndInflate {
    void operator()(z_stream* stream) const noexcept;
  };

  void refill();
  std::size_t read_plain(std::span<std::byte> out);
  std::size_t read_gzip(std::span<std::byte> out);
  bool next_member();
  void require_plausible() const;
  [[noreturn]] void fail_gzip(const std::string& found) const;

  std::filesystem::path file_;
  Contents contents_;
  int descriptor_ = -1;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t taken_ = 0;  // bytes of the file already in or past buffer_
  std::vector<std::byte> buffer_;
  std::span<const std::byte> unread_;
  std::unique_ptr<z_stream, EndInflate> inflater_;
  std::uint64_t unpacked_ = 0;
  bool finished_ = false;
};

}  // namespace zygos::io
