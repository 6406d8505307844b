// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line, not the library, owns signals: SIGTERM, SIGINT and SIGUSR2 ask the run to save
// and stop, SIGUSR1 asks it to save and go on, and a second SIGINT ends the process at once.
// SIGUSR2 is there because mpirun passes it on and leaves it at that.
#pragma once

#include "zygos/train/trainer.hpp"

#include <array>
#include <csignal>

namespace zygos::app {

/// Handlers are in force while an object of this class lives; there is one at a time.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  /// Signals reach `trainer` from now on, those that came before included.
  void attach(train::Trainer& trainer);
  void detach();
  /// Whether a stop was asked for.
  bool stop_requested() const;

 private:
  std::array<struct sigaction, 4> previous_{};
};

}  // namespace zygos::app
