// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include "support/quick_directory.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

extern char** environ;

namespace zygos::test {

namespace fs = std::filesystem;

namespace {

/// Several children may run in one folder at once.
std::string next_label() {
  static std::atomic<int> count{0};
  return std::to_string(++count);
}

void check(int failure, const char* what) {
  if (failure != 0) {
    throw std::runtime_error(std::string(what) + " failed");
  }
}

/// This process's, with a cache folder of the test's own: nobody's profiles are read or written.
std::vector<std::string> environment_in(const fs::path& directory) {
  std::vector<std::string> variables{"XDG_CACHE_HOME=" +
                                     fs::absolute(directory / "cache").string()};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (!text.starts_with("XDG_CACHE_HOME=")) {
      variables.push_back(text);
    }
  }
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

pid_t spawn(const std::string& program, const std::vector<std::string>& arguments,
            const fs::path& directory, const fs::path& out, const fs::path& err) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment_in(directory);
  posix_spawn_file_actions_t actions;
  check(posix_spawn_file_actions_init(&actions), "posix_spawn_file_actions_init");
  const int flags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), flags, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), flags, 0600);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  pid_t pid = -1;
  const int failure = posix_spawnp(&pid, program.c_str(), &actions, nullptr,
                                   pointers_to(words).data(), pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  check(failure, "posix_spawnp");
  return pid;
}

}  // namespace

std::string executable() { return ZYGOS_EXECUTABLE; }

fs::path source_folder() { return ZYGOS_SOURCE_DIR; }

Process::Process(const std::vector<std::string>& arguments, const fs::path& directory,
                 const std::string& program) {
  const std::string label = next_label();
  out_ = fs::absolute(directory) / (".out" + label);
  err_ = fs::absolute(directory) / (".err" + label);
  pid_ = spawn(program, arguments, directory, out_, err_);
}

Process::~Process() {
  if (!reaped_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status_, 0);
  }
}

void Process::send(int signal) const {
  if (!reaped_) {
    ::kill(pid_, signal);
  }
}

bool Process::running() {
  if (!reaped_) {
    reaped_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
  }
  return !reaped_;
}

bool Process::says(const std::string& text) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (bool alive = true; alive && std::chrono::steady_clock::now() < end;) {
    alive = running();
    if (read_text(out_).find(text) != std::string::npos ||
        read_text(err_).find(text) != std::string::npos) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

Outcome Process::wait(std::chrono::seconds limit) {
#ifdef __SANITIZE_ADDRESS__
  limit *= 5;  // about what it costs
#endif
  const auto end = std::chrono::steady_clock::now() + limit;
  while (running()) {
    if (std::chrono::steady_clock::now() > end) {
      throw std::runtime_error("zygos did not end in time; it said:\n" + read_text(err_));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  Outcome outcome;
  outcome.code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  outcome.out = read_text(out_);
  outcome.err = read_text(err_);
  return outcome;
}

Scratch::Scratch() {
  std::string pattern = (quick_directory() / "zygos-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw std::runtime_error("cannot make a folder like " + pattern);
  }
  path_ = pattern;
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Outcome zygos_run(const std::vector<std::string>& arguments, const fs::path& directory) {
  return Process(arguments, directory).wait();
}

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_text(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) {
    throw std::runtime_error("cannot write " + file.string());
  }
}

}  // namespace zygos::test
