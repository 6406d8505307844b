// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/files/file_sync.hpp"

#include "zygos/core/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <random>
#include <system_error>

namespace zygos::io {

namespace fs = std::filesystem;

namespace {

std::string reason(int error) { return std::generic_category().message(error); }

[[noreturn]] void fail(std::string_view action, const fs::path& path, int error) {
  throw IoError(fmt::format("cannot {} {}: {}", action, path.string(), reason(error)));
}

int open_retrying(const fs::path& path, int flags, mode_t mode = 0) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

fs::path parent_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

Descriptor::~Descriptor() { close(); }

bool Descriptor::close() noexcept {
  const int value = std::exchange(value_, -1);
  // Linux has given the number back even after EINTR: closing again could hit somebody else's.
  return value < 0 || ::close(value) == 0 || errno == EINTR;
}

Descriptor create_file(const fs::path& file) {
  Descriptor out(open_retrying(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0640));
  if (!out) {
    fail("create", file, errno);
  }
  return out;
}

std::size_t write_until_refused(const Descriptor& file, std::span<const std::byte> bytes) noexcept {
  // Well below the 2 GiB at which the system cuts a call short.
  constexpr std::size_t piece = std::size_t{16} << 20;
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto now = ::write(file.get(), bytes.data() + done, std::min(piece, bytes.size() - done));
    if (now < 0 && errno == EINTR) {
      continue;
    }
    if (now <= 0) {
      errno = now < 0 ? errno : ENOSPC;
      break;
    }
    done += static_cast<std::size_t>(now);
  }
  return done;
}

void write_all(const Descriptor& file, const fs::path& name, std::span<const std::byte> bytes) {
  if (const std::size_t done = write_until_refused(file, bytes); done < bytes.size()) {
    const int error = errno;
    throw IoError(fmt::format("cannot write {}: {} after {} of {} bytes, {} bytes missing",
                              name.string(), reason(error), done, bytes.size(),
                              bytes.size() - done));
  }
}

void close_durably(Descriptor& file, const fs::path& name) {
  if (::fsync(file.get()) != 0) {
    fail("fsync", name, errno);
  }
  if (!file.close()) {
    fail("close", name, errno);
  }
}

void sync_file(const fs::path& file) {
  const Descriptor opened(open_retrying(file, O_RDONLY));
  if (!opened) {
    fail("open", file, errno);
  }
  if (::fsync(opened.get()) != 0) {
    fail("fsync", file, errno);
  }
}

void write_file_durably(const fs::path& file, std::span<const std::byte> bytes) {
  Descriptor out = create_file(file);
  write_all(out, file, bytes);
  close_durably(out, file);
}

void sync_directory(const fs::path& directory) {
  const Descriptor opened(open_retrying(directory, O_RDONLY | O_DIRECTORY));
  if (!opened) {
    fail("open", directory, errno);
  }
  // EINVAL: a file system whose directories cannot be fsynced; there is nothing better to do.
  if (::fsync(opened.get()) != 0 && errno != EINVAL) {
    fail("fsync", directory, errno);
  }
}

void make_directories_durably(const fs::path& directory) {
  std::error_code ignored;
  if (fs::is_directory(directory, ignored)) {
    return;
  }
  const fs::path plain = directory.has_filename() ? directory : directory.parent_path();
  const fs::path parent = parent_of(plain);
  make_directories_durably(parent);
  if (::mkdir(plain.c_str(), 0750) != 0) {
    const int error = errno;
    // Another process may have been quicker.
    if (!fs::is_directory(plain, ignored)) {
      fail("create directory", plain, error == EEXIST ? ENOTDIR : error);
    }
  }
  sync_directory(parent);
}

void rename_durably(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    fail(fmt::format("rename {} to", from.string()), to, errno);
  }
  sync_directory(parent_of(to));
}

bool exchange_durably(const fs::path& a, const fs::path& b) {
  if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) != 0) {
    if (errno == EINVAL || errno == ENOSYS) {
      return false;
    }
    fail(fmt::format("exchange {} with", a.string()), b, errno);
  }
  sync_directory(parent_of(a));
  return true;
}

void require_space(const fs::path& directory, std::uint64_t needed, std::uint64_t free) {
  if (free < needed) {
    throw IoError(fmt::format(
        "no space for a checkpoint in {}: {} bytes needed, {} free, {} bytes missing; free some "
        "space, keep fewer checkpoints or choose another directory",
        directory.string(), needed, free, needed - free));
  }
}

std::uint64_t free_bytes(const fs::path& directory) {
  struct statvfs facts {};
  if (::statvfs(directory.c_str(), &facts) != 0) {
    fail("ask for the free space of", directory, errno);
  }
  return std::uint64_t{facts.f_bavail} * facts.f_frsize;
}

Descriptor open_regular(const fs::path& file, std::uint64_t& size) {
  Descriptor opened(open_retrying(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  if (!opened) {
    fail("open", file, errno);
  }
  struct stat facts {};
  if (::fstat(opened.get(), &facts) != 0) {
    fail("examine", file, errno);
  }
  if (!S_ISREG(facts.st_mode)) {
    throw IoError(fmt::format("{} is not a regular file", file.string()));
  }
  size = static_cast<std::uint64_t>(facts.st_size);
  return opened;
}

void read_pieces(const Descriptor& file, const fs::path& name, std::span<std::byte> buffer,
                 const std::function<bool(std::span<const std::byte>)>& take) {
  while (true) {
    const auto now = ::read(file.get(), buffer.data(), buffer.size());
    if (now < 0 && errno == EINTR) {
      continue;
    }
    if (now < 0) {
      fail("read", name, errno);
    }
    if (now == 0 || !take(buffer.first(static_cast<std::size_t>(now)))) {
      return;
    }
  }
}

std::string unique_suffix() {
  std::random_device source;
  return fmt::format("{}-{:08x}{:08x}", ::getpid(), source(), source());
}

}  // namespace zygos::io
