// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace zygos::app {

void prepare_standard_streams() noexcept {
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) {
      // open() takes the lowest number that is free, which is this one: those below are open.
      static_cast<void>(::open("/dev/null", descriptor == STDIN_FILENO ? O_RDONLY : O_WRONLY));
    }
  }
}

void put(std::FILE* stream, std::string_view text) noexcept {
  if (std::fwrite(text.data(), 1, text.size(), stream) == text.size()) {
    static_cast<void>(std::fflush(stream));
  }
}

}  // namespace zygos::app
