// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Names and lives of checkpoint folders: built as ".tmp-step-NNNNNN-<unique>", renamed to
// "step-NNNNNN" when complete, renamed back to a ".tmp-" name before they are removed. So a final
// name never stands for half a checkpoint, and every ".tmp-" folder without a living owner is
// waste.
#pragma once

#include "io/files/file_sync.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::io {

struct FoundCheckpoint {
  std::filesystem::path path;
  std::int64_t step = 0;
};

/// "step-000012"; more digits when the step has more.
std::string checkpoint_name(std::int64_t step);

/// The inverse; nullopt for all names that checkpoint_name does not give.
std::optional<std::int64_t> step_of_name(std::string_view name);

/// Folders with a checkpoint's name, newest first, and those that replace_in_two_steps() has left
/// in the place of one; none if the directory does not exist. Throws IoError if it can't be read.
std::vector<FoundCheckpoint> find_checkpoints(const std::filesystem::path& directory);

/// A folder under construction. Locked, so that remove_stale in another process leaves it alone;
/// removed by the destructor unless it was committed.
class StagingFolder {
 public:
  StagingFolder(const std::filesystem::path& directory, std::int64_t step);
  ~StagingFolder();
  StagingFolder(const StagingFolder&) = delete;
  StagingFolder& operator=(const StagingFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  /// Gives the folder its final name durably. A checkpoint that has this name stays until the very
  /// moment it is replaced, and is removed then.
  void commit(const std::filesystem::path& final);

 private:
  std::filesystem::path path_;
  Descriptor lock_;
};

/// For file systems that can't exchange two names: `old` is renamed to ".old-<its name>-<unique>",
/// then `fresh` gets its name, then the old one is removed. Between the two renames a crash leaves
/// the complete old checkpoint under its ".old-" name.
void replace_in_two_steps(const std::filesystem::path& fresh, const std::filesystem::path& old);

/// What is left of replace_in_two_steps() in a process that died in it: the old checkpoint gets its
/// name back where no other has it. For the writer alone: another one's may be about to use it.
void restore_set_aside(const std::filesystem::path& directory);

/// Removes a checkpoint in such a way that no crash leaves half of it under its name.
void remove_checkpoint(const std::filesystem::path& checkpoint);

/// Removes ".tmp-" folders whose writers are gone. Never throws: they only take space.
void remove_stale(const std::filesystem::path& directory) noexcept;

}  // namespace zygos::io
