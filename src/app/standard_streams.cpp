// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/standard_streams.hpp"

#include "comm/launcher.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

namespace zygos::app {

namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// 0 where there is none, or the system does not say.
pid_t parent_of(pid_t process) {
  // "17 (a name) S 16 ...", where the name may hold anything.
  const std::string line = first_line(fs::path("/proc") / std::to_string(process) / "stat");
  const auto name_end = line.rfind(')');
  return name_end == std::string::npos || line.size() < name_end + 4
             ? 0
             : static_cast<pid_t>(std::atol(line.c_str() + name_end + 4));
}

bool launches_processes(pid_t process) {
  constexpr std::array names{"mpirun",          "mpiexec", "orterun",   "orted",
                             "prterun",         "prted",   "prte",      "mpiexec.hydra",
                             "hydra_pmi_proxy", "srun",    "slurmstepd"};
  const std::string name = first_line(fs::path("/proc") / std::to_string(process) / "comm");
  return std::ranges::any_of(
      names, [&](const char* known) { return name == std::string(known).substr(0, 15); });
}

/// Where a process's descriptor leads to.
bool leads_to_terminal(pid_t process, int descriptor) {
  std::error_code unreadable;
  const fs::path target = fs::read_symlink(
      fs::path("/proc") / std::to_string(process) / "fd" / std::to_string(descriptor), unreadable);
  const std::string text = target.string();
  return !unreadable && (text.starts_with("/dev/pts/") || text.starts_with("/dev/tty"));
}

/// Of the launcher, which may have started a script that started this process.
bool launcher_has_terminal(int descriptor) {
  for (pid_t process = ::getppid(); process > 1; process = parent_of(process)) {
    if (launches_processes(process)) {
      return leads_to_terminal(process, descriptor);
    }
  }
  return false;
}

}  // namespace

bool is_terminal(std::FILE* stream) noexcept {
  const int descriptor = ::fileno(stream);
  if (::isatty(descriptor) != 1) {
    return false;
  }
  try {
    return comm::launched_processes(std::getenv) == 0 || launcher_has_terminal(descriptor);
  } catch (const std::exception&) {
    return false;
  }
}

void prepare_standard_streams() noexcept {
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) {
      // open() takes the lowest number that is free, which is this one: those below are open.
      static_cast<void>(::open("/dev/null", descriptor == STDIN_FILENO ? O_RDONLY : O_WRONLY));
    }
  }
}

int put(std::FILE* stream, std::string_view text) noexcept {
  const bool whole = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  return whole && std::fflush(stream) == 0 ? 0 : errno;
}

}  // namespace zygos::app
