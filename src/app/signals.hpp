// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line, not the library, owns signals: SIGTERM, SIGINT, SIGUSR2, SIGHUP (unless it was
// ignored, as nohup does) and SIGXCPU ask the run to save and stop, SIGUSR1 asks it to save and go
// on, and a second SIGINT ends the process at once. SIGUSR2 is there because mpirun passes it on
// and leaves it at that.
#pragma once

#include "zygos/core/error.hpp"
#include "zygos/train/trainer.hpp"

#include <array>
#include <csignal>
#include <cstddef>

namespace zygos::app {

inline constexpr std::size_t watched_signals = 6;

/// Handlers are in force while an object of this class lives; there is one at a time.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  /// Whether a stop was asked for.
  bool stop_requested() const;

 private:
  std::array<struct sigaction, watched_signals> previous_{};
};

/// A stop was asked for while nothing was trained that is not saved.
class StoppedEarly : public Error {
 public:
  StoppedEarly()
      : Error(ExitCode::stopped,
              "stopped on request while lanes or policies were measured: nothing was trained that is not "
              "saved; the same command goes on") {}
};

/// Signals reach `trainer` while this lives, those that came before included. Afterwards no handler
/// has its address, however the scope was left.
class SignalsTo {
 public:
  SignalsTo(const SignalGuard& signals, train::Trainer& trainer);
  ~SignalsTo();
  SignalsTo(const SignalsTo&) = delete;
  SignalsTo& operator=(const SignalsTo&) = delete;
};

}  // namespace zygos::app
