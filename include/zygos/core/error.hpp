// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Typed exceptions. Each carries the exit code that the command line returns for it, so that the
// meaning of a failure is decided where it is found and nowhere else.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace zygos {

/// What a failure means to whoever started the program; the values are process exit codes.
enum class ExitCode : int {
  done = 0,
  bug = 1,
  usage = 2,
  data = 3,
  checkpoint = 4,
  io = 5,
  memory = 6,
  numeric = 7,
  peer = 8,
  self_check = 9,
  stopped = 75,
};

/// Base of every exception the library throws on purpose.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// A broken invariant of the library itself.
class InternalError : public Error {
 public:
  explicit InternalError(const std::string& message) : Error(ExitCode::bug, message) {}
};

/// A bad argument, deck or model: the caller can fix it.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ExitCode::usage, message) {}
};

/// A data set that is not what it claims to be; names file and byte offset where there is one.
class DataError : public Error {
 public:
  explicit DataError(const std::string& message) : Error(ExitCode::data, message) {}
};

/// A checkpoint that is damaged, incomplete or belongs to another run.
class CheckpointError : public Error {
 public:
  explicit CheckpointError(const std::string& message) : Error(ExitCode::checkpoint, message) {}
};

/// The operating system refused a read or a write.
class IoError : public Error {
 public:
  explicit IoError(const std::string& message) : Error(ExitCode::io, message) {}
};

/// A budget or the machine's memory is exhausted; says lane, category, name and bytes.
class MemoryError : public Error {
 public:
  explicit MemoryError(const std::string& message) : Error(ExitCode::memory, message) {}
};

/// NaN or infinity where a finite number is needed.
class NumericError : public Error {
 public:
  explicit NumericError(const std::string& message) : Error(ExitCode::numeric, message) {}
};

/// Another rank was lost, has failed, or sent what was not expected. The message names both ranks.
class PeerError : public Error {
 public:
  /// `rank` is the one that noticed; `peer` the one it waited for, -1 where that is not one rank.
  PeerError(int rank, int peer, const std::string& message)
      : Error(ExitCode::peer, "rank " + std::to_string(rank) + ": " + message),
        rank_(rank),
        peer_(peer) {}
  int rank() const noexcept { return rank_; }
  int peer() const noexcept { return peer_; }

 private:
  int rank_;
  int peer_;
};

/// A task failed on a lane. Keeps the exit code of the cause.
class LaneError : public Error {
 public:
  LaneError(ExitCode code, std::string lane, std::string task, const std::string& cause)
      : Error(code, "lane '" + lane + "', task '" + task + "': " + cause),
        lane_(std::move(lane)),
        task_(std::move(task)) {}
  const std::string& lane() const noexcept { return lane_; }
  const std::string& task() const noexcept { return task_; }

 private:
  std::string lane_;
  std::string task_;
};

namespace detail {
[[noreturn]] void fail_requirement(std::string_view condition, const std::string& message,
                                   std::source_location where);
}  // namespace detail

}  // namespace zygos

/// Throws zygos::InternalError with file and line when `condition` does not hold. The message is
/// only built on failure.
#define ZYGOS_REQUIRE(condition, message)                                                        \
  do {                                                                                           \
    if (!(condition)) {                                                                          \
      ::zygos::detail::fail_requirement(#condition, (message), std::source_location::current()); \
    }                                                                                            \
  } while (false)
