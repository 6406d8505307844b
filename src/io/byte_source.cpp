// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/byte_source.hpp"

#include "zygos/core/error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>

namespace zygos::io {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 16;
constexpr int gzip_window = 15 + 16;  // zlib: largest window, gzip wrapper

[[noreturn]] void fail_system(const std::filesystem::path& file, int error) {
  throw IoError(file.string() + ": cannot be read: " + std::generic_category().message(error) +
                "; check the path and its permissions");
}

bool begins_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

}  // namespace

void require_readable_file(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (error) {
    fail_system(file, error.value());
  }
  if (std::filesystem::is_directory(status)) {
    throw DataError(file.string() + ": found a directory; name a file in it");
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw DataError(file.string() +
                    ": found a pipe, socket or device; data are read from regular files only");
  }
  if (::access(file.c_str(), R_OK) != 0) {
    fail_system(file, errno);
  }
}

void ByteSource::EndInflate::operator()(z_stream* stream) const noexcept {
  inflateEnd(stream);
  delete stream;
}

ByteSource::ByteSource(const std::filesystem::path& file, Contents contents)
    : file_(file), contents_(contents), buffer_(buffer_bytes) {
  require_readable_file(file);
  descriptor_ = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) {
    fail_system(file, errno);
  }
  try {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) {
      fail_system(file, errno);
    }
    file_bytes_ = static_cast<std::uint64_t>(status.st_size);
    refill();
    if (begins_gzip(unread_)) {
      auto stream = std::make_unique<z_stream>();
      if (inflateInit2(stream.get(), gzip_window) != Z_OK) {
        throw MemoryError(file.string() + ": no memory to unpack gzip");
      }
      inflater_.reset(stream.release());
    }
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

ByteSource::~ByteSource() { ::close(descriptor_); }

std::uint64_t ByteSource::max_bytes() const noexcept {
  return compressed() ? file_bytes_ * deflate_ratio : file_bytes_;
}

/// Appends what the file has to what is still unread.
void ByteSource::refill() {
  const std::size_t kept = unread_.size();
  std::copy(unread_.begin(), unread_.end(), buffer_.begin());
  ssize_t got = -1;
  do {
    got = ::read(descriptor_, buffer_.data() + kept, buffer_.size() - kept);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    fail_system(file_, errno);
  }
  unread_ = {buffer_.data(), kept + static_cast<std::size_t>(got)};
  taken_ += static_cast<std::uint64_t>(got);
}

std::size_t ByteSource::read(std::span<std::byte> out) {
  return compressed() ? read_gzip(out) : read_plain(out);
}

std::size_t ByteSource::read_plain(std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    if (unread_.empty()) {
      refill();
      if (unread_.empty()) {
        break;
      }
    }
    const std::size_t count = std::min(unread_.size(), out.size() - done);
    std::memcpy(out.data() + done, unread_.data(), count);
    unread_ = unread_.subspan(count);
    done += count;
  }
  return done;
}

std::size_t ByteSource::read_gzip(std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size() && !finished_) {
    if (unread_.empty()) {
      refill();
      if (unread_.empty()) {
        fail_gzip("the end of the file inside the gzip stream");
      }
    }
    const auto room =
        std::min<std::size_t>(out.size() - done, std::numeric_limits<std::uint32_t>::max());
    inflater_->next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(unread_.data()));
    inflater_->avail_in = static_cast<uInt>(unread_.size());
    inflater_->next_out = reinterpret_cast<Bytef*>(out.data() + done);
    inflater_->avail_out = static_cast<uInt>(room);
    const int result = inflate(inflater_.get(), Z_NO_FLUSH);
    unread_ = unread_.last(inflater_->avail_in);
    done += room - inflater_->avail_out;
    unpacked_ += room - inflater_->avail_out;
    require_plausible();
    if (result == Z_STREAM_END) {
      finished_ = !next_member();
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      const char* reason = inflater_->msg == nullptr ? "bad gzip data" : inflater_->msg;
      fail_gzip("a damaged gzip stream (" + std::string(reason) + ")");
    }
  }
  return done;
}

void ByteSource::require_plausible() const {
  const std::uint64_t most = file_bytes_ * text_ratio + text_slack;
  if (contents_ == Contents::text && unpacked_ > most) {
    throw DataError(file_.string() + ": found more than " + std::to_string(most) +
                    " bytes of text in a gzip file of " + std::to_string(file_bytes_) +
                    " bytes; allowed are " + std::to_string(text_ratio) +
                    " times its size and 16 MiB; if the text is sound, unpack it (gzip -d) and "
                    "name the plain file");
  }
}

/// A gzip file may consist of several members; anything else after the first is refused.
bool ByteSource::next_member() {
  if (unread_.size() < 2) {
    refill();
  }
  if (unread_.empty()) {
    return false;
  }
  if (!begins_gzip(unread_)) {
    fail_gzip("bytes that are not gzip after the end of the gzip stream");
  }
  inflateReset(inflater_.get());
  return true;
}

void ByteSource::fail_gzip(const std::string& found) const {
  throw DataError(file_.string() + ": byte " + std::to_string(taken_ - unread_.size()) +
                  " of the packed file: found " + found +
                  "; a whole gzip file is needed; fetch or pack it again");
}

std::uint64_t ByteSource::skip(std::uint64_t limit) {
  std::vector<std::byte> scratch(buffer_bytes);
  std::uint64_t dropped = 0;
  while (dropped < limit) {
    const auto want =
        static_cast<std::size_t>(std::min<std::uint64_t>(scratch.size(), limit - dropped));
    const std::size_t got = read({scratch.data(), want});
    dropped += got;
    if (got < want) {
      break;
    }
  }
  return dropped;
}

}  // namespace zygos::io
