// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint/checkpoint_folder.hpp"

#include "zygos/core/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>

namespace zygos::io {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view final_prefix = "step-";
constexpr std::string_view staging_prefix = ".tmp-step-";
constexpr std::string_view aside_prefix = ".old-";

fs::path staging_path(const fs::path& directory, std::string_view name) {
  return directory / fmt::format(".tmp-{}-{}", name, unique_suffix());
}

/// The lock belongs to the open folder: it dies with its process, however that ends.
Descriptor try_lock(const fs::path& folder) {
  Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (opened && ::flock(opened.get(), LOCK_EX | LOCK_NB) != 0) {
    opened = Descriptor();
  }
  return opened;
}

void remove_quietly(const fs::path& folder) noexcept {
  try {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  } catch (const std::exception&) {  // out of memory for names
  }
}

/// The step of ".old-step-000012-<unique>"; nullopt for other names.
std::optional<std::int64_t> step_set_aside(std::string_view name) {
  if (!name.starts_with(aside_prefix)) {
    return std::nullopt;
  }
  name.remove_prefix(aside_prefix.size());
  return step_of_name(name.substr(0, name.find('-', final_prefix.size())));
}

bool is_there(const fs::path& path) {
  std::error_code unknown;
  return fs::exists(fs::symlink_status(path, unknown));
}

/// Folders beneath `directory` whose names `step_of` knows, in no order; none if it does not exist.
std::vector<FoundCheckpoint> folders_in(
    const fs::path& directory, std::optional<std::int64_t> (*step_of)(std::string_view name)) {
  std::vector<FoundCheckpoint> found;
  std::error_code problem;
  fs::directory_iterator entry(directory, problem);
  if (problem == std::errc::no_such_file_or_directory) {
    return found;
  }
  for (; !problem && entry != fs::directory_iterator(); entry.increment(problem)) {
    std::error_code unknown;
    const auto step = step_of(entry->path().filename().string());
    if (step && fs::is_directory(entry->symlink_status(unknown))) {
      found.push_back({entry->path(), *step});
    }
  }
  if (problem) {
    throw IoError(
        fmt::format("cannot read directory {}: {}", directory.string(), problem.message()));
  }
  return found;
}

}  // namespace

std::string checkpoint_name(std::int64_t step) { return fmt::format("step-{:06}", step); }

std::optional<std::int64_t> step_of_name(std::string_view name) {
  if (!name.starts_with(final_prefix)) {
    return std::nullopt;
  }
  std::int64_t step = -1;
  const std::string_view digits = name.substr(final_prefix.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), step);
  return step >= 0 && checkpoint_name(step) == name ? std::optional(step) : std::nullopt;
}

std::vector<FoundCheckpoint> find_checkpoints(const fs::path& directory) {
  auto found = folders_in(directory, step_of_name);
  for (FoundCheckpoint& aside : folders_in(directory, step_set_aside)) {
    if (!is_there(directory / checkpoint_name(aside.step))) {
      found.push_back(std::move(aside));
    }
  }
  std::ranges::sort(found, std::ranges::greater{}, &FoundCheckpoint::step);
  return found;
}

void restore_set_aside(const fs::path& directory) {
  for (const FoundCheckpoint& aside : folders_in(directory, step_set_aside)) {
    const fs::path final = directory / checkpoint_name(aside.step);
    if (is_there(final)) {
      remove_quietly(aside.path);
    } else {
      rename_durably(aside.path, final);
    }
  }
}

StagingFolder::StagingFolder(const fs::path& directory, std::int64_t step)
    : path_(staging_path(directory, checkpoint_name(step))) {
  if (::mkdir(path_.c_str(), 0750) != 0) {
    throw IoError(fmt::format("cannot create {}: {}", path_.string(),
                              std::generic_category().message(errno)));
  }
  lock_ = try_lock(path_);
}

StagingFolder::~StagingFolder() {
  if (!path_.empty()) {
    remove_quietly(path_);
  }
}

void StagingFolder::commit(const fs::path& final) {
  if (!is_there(final)) {
    rename_durably(path_, final);
  } else if (exchange_durably(path_, final)) {
    remove_quietly(path_);  // now the old one
  } else {
    replace_in_two_steps(path_, final);
  }
  path_.clear();
}

void replace_in_two_steps(const fs::path& fresh, const fs::path& old) {
  const fs::path aside = old.parent_path() / fmt::format("{}{}-{}", aside_prefix,
                                                         old.filename().string(), unique_suffix());
  rename_durably(old, aside);
  try {
    rename_durably(fresh, old);
  } catch (const IoError&) {
    std::error_code ignored;
    fs::rename(aside, old, ignored);
    throw;
  }
  remove_quietly(aside);
}

void remove_checkpoint(const fs::path& checkpoint) {
  const fs::path doomed = staging_path(checkpoint.parent_path(), checkpoint.filename().string());
  std::error_code problem;
  fs::rename(checkpoint, doomed, problem);
  if (!problem) {
    fs::remove_all(doomed, problem);
  }
  if (problem) {
    throw IoError(fmt::format("cannot remove {}: {}", checkpoint.string(), problem.message()));
  }
}

void remove_stale(const fs::path& directory) noexcept {
  try {
    std::error_code problem;
    std::vector<fs::path> stale;
    for (fs::directory_iterator entry(directory, problem), end; !problem && entry != end;
         entry.increment(problem)) {
      const bool staging = entry->path().filename().string().starts_with(staging_prefix);
      if (staging && try_lock(entry->path())) {
        stale.push_back(entry->path());
      }
    }
    std::ranges::for_each(stale, remove_quietly);
  } catch (const std::exception&) {
    return;  // out of memory for names: not this function's to report
  }
}

}  // namespace zygos::io
