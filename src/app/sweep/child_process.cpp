// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/sweep/child_process.hpp"

#include "zygos/core/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <sstream>
#include <system_error>

namespace zygos::app {

namespace {

std::string reason_of(int number) { return std::generic_category().message(number); }

/// Standard input is empty.
class FileActions {
 public:
  FileActions(const OutputFile& output, const OutputFile& errors) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, output.descriptor(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, errors.descriptor(), STDERR_FILENO);
  }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& file)
    : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0640)) {
  if (descriptor_ < 0) {
    throw IoError(fmt::format("cannot write {}: {}", file.string(), reason_of(errno)));
  }
}

OutputFile::OutputFile() {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  descriptor_ = ::open(folder.c_str(), O_RDWR | O_TMPFILE | O_APPEND | O_CLOEXEC, 0600);
  if (descriptor_ < 0) {
    throw IoError(
        fmt::format("cannot make a temporary file in {}: {}; name another folder in "
                    "TMPDIR",
                    folder.string(), reason_of(errno)));
  }
}

OutputFile::~OutputFile() { ::close(descriptor_); }

std::string OutputFile::text() const {
  std::string text;
  std::array<char, 1 << 14> part{};
  ssize_t bytes = 0;
  while ((bytes = ::pread(descriptor_, part.data(), part.size(), static_cast<off_t>(text.size()))) >
         0) {
    text.append(part.data(), static_cast<std::size_t>(bytes));
  }
  return text;
}

ChildProcess::ChildProcess(const std::vector<std::string>& words, const OutputFile& output,
                           const OutputFile& errors) {
  std::vector<std::string> own{"zygos"};
  own.insert(own.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : own) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  const FileActions actions(output, errors);
  // It stays in the group of this process: a Ctrl-C reaches both.
  const int problem =
      ::posix_spawn(&pid_, "/proc/self/exe", actions.get(), nullptr, arguments.data(), environ);
  if (problem != 0) {
    throw IoError("the system does not start zygos as another process: " + reason_of(problem));
  }
}

ChildProcess::~ChildProcess() {
  if (ended_) {
    return;
  }
  ask_to_stop();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool ChildProcess::ended() {
  int status = 0;
  if (!ended_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    ended_ = true;
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return ended_;
}

void ChildProcess::ask_to_stop() const { ::kill(pid_, SIGTERM); }

std::string child_problem(int code, const std::string& written) {
  if (code > 128) {
    return fmt::format("ended by signal {}", code - 128);
  }
  std::istringstream lines(written);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (const auto at = line.find("error: "); at != std::string::npos) {
      return at == 0 ? line.substr(7) : line;
    }
    last = line.empty() ? last : line;
  }
  return last;
}

}  // namespace zygos::app
