// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The folder of a run. The one rule a reader could not guess: nothing in it is ever deleted to make
// room for another run; the whole folder gets the name <name>.1, <name>.2, ... instead.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace zygos::app {

/// An exclusive lock on a folder, held as long as the object lives, gone with the process.
class FolderLock {
 public:
  /// Makes the folder if need be. Throws UsageError if another process holds it, IoError if the
  /// system refuses; they name the `option` that chooses another folder.
  explicit FolderLock(const std::filesystem::path& folder, std::string_view option = "--run-dir");
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;

 private:
  int descriptor_ = -1;
};

class RunFolder {
 public:
  /// Takes the lock.
  explicit RunFolder(std::filesystem::path folder);

  const std::filesystem::path& path() const noexcept { return path_; }
  std::filesystem::path deck() const { return path_ / "deck.yaml"; }
  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path summary() const { return path_ / "summary.json"; }
  std::filesystem::path trace() const { return path_ / "trace.json"; }
  std::filesystem::path report() const { return path_ / "report.html"; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }

  /// Whether a run was begun here.
  bool used() const;
  /// Whether summary.json says that the run in this folder has finished.
  bool finished() const;
  /// Gives the folder its next free other name, starts an empty one in its place and returns the
  /// other name.
  std::filesystem::path set_aside();

 private:
  std::filesystem::path path_;
  FolderLock lock_;
};

/// Whether a summary is that of a run that has finished.
bool says_finished(const nlohmann::json& summary);
/// What summary.json of a folder says; nothing if there is none or it can't be read.
std::optional<nlohmann::json> read_summary(const std::filesystem::path& file);

}  // namespace zygos::app
