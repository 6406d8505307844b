// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A library for LD_PRELOAD in which reading and writing regular files goes as badly as POSIX
// allows:
//   ZYGOS_OBSTRUCT_SHORT=n    read and write move at most n bytes a call
//   ZYGOS_OBSTRUCT_EINTR=n    of every n calls, one ends with EINTR before it has done anything
//   ZYGOS_OBSTRUCT_ENOSPC=n   the disk is full when n bytes were written: what fits is, then ENOSPC
//   ZYGOS_OBSTRUCT_EDQUOT=n   the same with a quota
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <optional>

namespace {

std::optional<long> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? std::nullopt : std::optional(std::atol(text));
}

bool is_regular(int descriptor) {
  struct stat facts {};
  return ::fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode);
}

bool interrupted() {
  static std::atomic<long> calls{0};
  const auto every = number_in("ZYGOS_OBSTRUCT_EINTR");
  return every && calls.fetch_add(1) % *every == 0;
}

std::size_t shortened(std::size_t bytes) {
  const auto limit = number_in("ZYGOS_OBSTRUCT_SHORT");
  return limit ? std::min(bytes, static_cast<std::size_t>(*limit)) : bytes;
}

/// Bytes of `wanted` that still fit below the limit in `variable`.
std::size_t fitting(std::size_t wanted, const char* variable, std::atomic<long>& total) {
  const auto limit = number_in(variable);
  if (!limit) {
    return wanted;
  }
  const long left = std::max(0L, *limit - total.load());
  const std::size_t now = std::min(wanted, static_cast<std::size_t>(left));
  total.fetch_add(static_cast<long>(now));
  return now;
}

ssize_t fail(int error) {
  errno = error;
  return -1;
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* data, std::size_t bytes) {
  static std::atomic<long> stored{0};
  static std::atomic<long> charged{0};
  if (!is_regular(descriptor)) {
    return ::syscall(SYS_write, descriptor, data, bytes);
  }
  if (interrupted()) {
    return fail(EINTR);
  }
  const std::size_t wanted = shortened(bytes);
  const std::size_t fits = fitting(wanted, "ZYGOS_OBSTRUCT_ENOSPC", stored);
  if (fits == 0 && wanted > 0) {
    return fail(ENOSPC);
  }
  const std::size_t granted = fitting(fits, "ZYGOS_OBSTRUCT_EDQUOT", charged);
  if (granted == 0 && wanted > 0) {
    return fail(EDQUOT);
  }
  return ::syscall(SYS_write, descriptor, data, granted);
}

ssize_t read(int descriptor, void* data, std::size_t bytes) {
  if (!is_regular(descriptor)) {
    return ::syscall(SYS_read, descriptor, data, bytes);
  }
  if (interrupted()) {
    return fail(EINTR);
  }
  return ::syscall(SYS_read, descriptor, data, shortened(bytes));
}

}  // extern "C"
