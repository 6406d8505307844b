// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/error.hpp"

#include <string>

namespace zygos::app {

/// How a command failed, as its user is told.
struct Failure {
  ExitCode code = ExitCode::bug;
  std::string message;
  bool has_layout = false;  ///< the message is compiler-style text of its own
  bool shared = false;      ///< every process of the run fails with it
};

/// Of the exception that is being handled.
Failure current_failure();

/// Processes that share a run throw it together, so that one can speak for all and each can end in
/// an orderly way.
class SharedFailure : public Error {
 public:
  explicit SharedFailure(Failure failure)
      : Error(failure.code, failure.message), failure_(std::move(failure)) {
    failure_.shared = true;
  }
  const Failure& failure() const noexcept { return failure_; }

 private:
  Failure failure_;
};

}  // namespace zygos::app
