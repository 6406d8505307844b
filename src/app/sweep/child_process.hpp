// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace zygos::app {

/// Where a child process writes to.
class OutputFile {
 public:
  /// Replaces the file. Throws IoError.
  explicit OutputFile(const std::filesystem::path& file);
  /// Without a name: it is gone with the object. Throws IoError.
  OutputFile();
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  int descriptor() const noexcept { return descriptor_; }
  /// All that was written so far.
  std::string text() const;

 private:
  int descriptor_ = -1;
};

/// This program once more, with other words: Kokkos can be initialised once in a process.
class ChildProcess {
 public:
  /// `words` follow the program's name. Throws IoError if the system starts no process.
  ChildProcess(const std::vector<std::string>& words, const OutputFile& output,
               const OutputFile& errors);
  /// Asks a child that still runs to stop, and waits for its end.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Whether it has ended; does not wait.
  bool ended();
  /// Of a child that has ended: its exit code, or 128 + n if signal n has ended it.
  int code() const noexcept { return code_; }
  /// SIGTERM: training saves its state and ends.
  void ask_to_stop() const;

 private:
  pid_t pid_ = -1;
  bool ended_ = false;
  int code_ = -1;
};

/// Why a child has failed: the first line about an error of what it wrote, else the last one.
std::string child_problem(int code, const std::string& written);

}  // namespace zygos::app
