// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/run/run_folder.hpp"

#include "app/foreign_json.hpp"
#include "io/files/file_sync.hpp"

#include "zygos/core/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

namespace zygos::app {

namespace fs = std::filesystem;

namespace {

std::string reason() { return std::generic_category().message(errno); }

/// False if the folder was renamed between opening its lock file and locking it.
bool still_names(const fs::path& file, int descriptor) {
  struct stat by_name {};
  struct stat by_descriptor {};
  return ::stat(file.c_str(), &by_name) == 0 && ::fstat(descriptor, &by_descriptor) == 0 &&
         by_name.st_ino == by_descriptor.st_ino && by_name.st_dev == by_descriptor.st_dev;
}

int open_lock_file(const fs::path& folder, const fs::path& file, std::string_view option) {
  try {
    io::make_directories_durably(folder);
  } catch (const IoError& error) {
    throw IoError(fmt::format("{}; choose another run folder with {}", error.what(), option));
  }
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
  if (descriptor < 0) {
    throw IoError(fmt::format("cannot write to the run folder {}: {}; choose another with {}",
                              folder.string(), reason(), option));
  }
  return descriptor;
}

}  // namespace

FolderLock::FolderLock(const fs::path& folder, std::string_view option) {
  const fs::path file = folder / ".lock";
  while (true) {
    descriptor_ = open_lock_file(folder, file, option);
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      const bool taken = errno == EWOULDBLOCK;
      const std::string cause = reason();
      ::close(std::exchange(descriptor_, -1));
      if (taken) {
        throw UsageError(fmt::format(
            "another zygos is at work in {}; wait for it, or choose another folder with {}",
            folder.string(), option));
      }
      throw IoError(fmt::format("cannot lock {}: {}", file.string(), cause));
    }
    if (still_names(file, descriptor_)) {
      return;
    }
    ::close(std::exchange(descriptor_, -1));
  }
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

RunFolder::RunFolder(fs::path folder) : path_(std::move(folder)), lock_(path_) {}

bool RunFolder::used() const { return fs::exists(deck()) || fs::exists(checkpoints()); }

bool RunFolder::finished() const {
  const auto said = read_summary(summary());
  return said && says_finished(*said);
}

fs::path RunFolder::set_aside() {
  // "runs/x/" has an empty file name; its other names are runs/x.1, not runs/x/.1.
  const fs::path plain = path_.has_filename() ? path_ : path_.parent_path();
  fs::path other;
  for (int number = 1; other.empty() || fs::exists(fs::symlink_status(other)); ++number) {
    other = plain;
    other += fmt::format(".{}", number);
  }
  io::rename_durably(plain, other);
  lock_ = FolderLock(path_);
  return other;
}

bool says_finished(const nlohmann::json& summary) {
  const auto flag = summary.find("finished");
  return flag != summary.end() && flag->is_boolean() && flag->get<bool>();
}

std::optional<nlohmann::json> read_summary(const fs::path& file) {
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  auto said = foreign_json(text);
  return said.is_object() ? std::optional(std::move(said)) : std::nullopt;
}

}  // namespace zygos::app
