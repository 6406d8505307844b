// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/child_process.hpp"

#include "io/files/file_sync.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>

namespace zygos::io {
namespace {

/// Bytes of address space that this process has; 0 if the system does not say.
std::size_t address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void limit(int resource, rlim_t value) {
  const rlimit both{value, value};
  ::setrlimit(static_cast<__rlimit_resource_t>(resource), &both);
}

void limit_child(const ChildLimits& limits, std::size_t memory) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGALRM}) {
    ::signal(signal, SIG_DFL);
  }
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, static_cast<rlim_t>(limits.cpu_s));
  if (memory > 0) {
    limit(RLIMIT_AS, memory + limits.memory);
  }
  ::alarm(static_cast<unsigned int>(limits.wall_s));
}

[[noreturn]] void run_as_child(const std::function<std::string()>& work, int out) {
  try {
    const std::string said = work();
    // A text that is not read as a whole is not said at all.
    const bool whole = ::write(out, said.data(), said.size()) == std::ssize(said);
    ::_exit(whole ? 0 : 1);
  } catch (const std::exception&) {
    ::_exit(0);
  }
}

std::string text_from(int in) {
  std::string text;
  std::array<char, 4096> piece{};
  for (ssize_t got = 1; got != 0;) {
    got = ::read(in, piece.data(), piece.size());
    if (got < 0 && errno != EINTR) {
      break;
    }
    text.append(piece.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
  return text;
}

/// RLIMIT_CPU ends a process by SIGXCPU, or by SIGKILL where the two limits are equal.
std::string fault_of(int status, const ChildLimits& limits) {
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGALRM || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
    return "";
  }
  if (signal == SIGXCPU || signal == SIGKILL) {
    return "does not end within " + std::to_string(limits.cpu_s) + " s of processor time";
  }
  // A sanitizer ends the process with a code.
  return signal == 0 ? "crashes" : std::string("crashes (") + ::strsignal(signal) + ")";
}

#ifdef __SANITIZE_THREAD__
/// ThreadSanitizer ends the child of a process with several threads.
constexpr bool can_fork = false;
#else
constexpr bool can_fork = true;
#endif

}  // namespace

ChildOutcome run_in_child(const std::function<std::string()>& work, const ChildLimits& limits) {
  if (!can_fork) {
    return {};
  }
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return {};
  }
  const Descriptor in(pipe[0]);
  Descriptor out(pipe[1]);
  const std::size_t memory = address_space();
  const pid_t child = ::fork();
  if (child == 0) {
    limit_child(limits, memory);
    run_as_child(work, out.get());
  }
  out.close();
  if (child < 0) {
    return {};
  }
  ChildOutcome outcome;
  outcome.said = text_from(in.get());
  int status = 0;
  pid_t ended = -1;
  do {
    ended = ::waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  outcome.fault = ended < 0 ? "" : fault_of(status, limits);
  return outcome;
}

}  // namespace zygos::io
