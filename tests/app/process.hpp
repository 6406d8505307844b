// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The real executable as a child process, and folders of its own for every test.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace zygos::test {

/// Path of the program under test.
std::string executable();
/// Root of the source tree.
std::filesystem::path source_folder();

struct Outcome {
  int code = -1;  ///< exit code, or 128 + n for a process ended by signal n
  std::string out;
  std::string err;
};

/// Runs in `directory`; output goes to files there, so that a killed child can't block anybody, and
/// caches to directory/cache.
class Process {
 public:
  /// `program`: a path, or a name to find in PATH.
  Process(const std::vector<std::string>& arguments, const std::filesystem::path& directory,
          const std::string& program = executable());
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const noexcept { return pid_; }
  void send(int signal) const;
  bool running();
  /// Waits until standard output or error has `text`, at most half a minute; false if the process
  /// ends without it.
  bool says(const std::string& text);
  /// Waits for the end; kills and fails after `limit`, five times that under AddressSanitizer.
  Outcome wait(std::chrono::seconds limit = std::chrono::seconds(120));

 private:
  std::filesystem::path out_;
  std::filesystem::path err_;
  pid_t pid_ = -1;
  int status_ = 0;
  bool reaped_ = false;
};

/// A fresh folder, in memory where there is room, removed with the object.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Runs zygos with `arguments` in `directory`.
Outcome zygos_run(const std::vector<std::string>& arguments,
                  const std::filesystem::path& directory);

std::string read_text(const std::filesystem::path& file);
void write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace zygos::test
