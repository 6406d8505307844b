// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Which trainer a signal reaches, and when none.
#include "app/signals.hpp"
#include "train/small_run.hpp"

#include <catch2/catch_test_macros.hpp>

#include <csignal>
#include <stdexcept>

namespace zygos::app::test_signals {
namespace {

using train::EventKind;

/// A run of twenty steps in memory.
struct Twenty {
  Twenty()
      : engine(run.engine(run.split(20))), trainer(*engine, run.data, nullptr, nullptr, options()) {
    trainer.start();
  }
  static train::TrainerOptions options() {
    train::TrainerOptions options;
    options.batch = 40;
    options.epochs = 4;
    options.checkpoint.epochs.reset();
    return options;
  }
  EventKind end() {
    for (;;) {
      const EventKind kind = trainer.next().kind;
      if (kind == EventKind::finished || kind == EventKind::stopped) {
        return kind;
      }
    }
  }

  test::SmallRun run{test::host_and_device()};
  std::unique_ptr<train::Engine> engine;
  train::Trainer trainer;
};

}  // namespace

TEST_CASE("A signal stops the trainer in whose scope it comes") {
  Twenty twenty;
  const SignalGuard signals;
  const SignalsTo attached(signals, twenty.trainer);

  std::raise(SIGTERM);

  CHECK(twenty.end() == EventKind::stopped);
  CHECK(twenty.trainer.step() < 20);
}

TEST_CASE("A signal that came before its scope stops a trainer, too") {
  Twenty twenty;
  const SignalGuard signals;
  std::raise(SIGUSR2);
  CHECK(signals.stop_requested());

  const SignalsTo attached(signals, twenty.trainer);

  CHECK(twenty.end() == EventKind::stopped);
}

TEST_CASE("A signal does not reach a trainer whose scope was left, by an exception either") {
  Twenty left;
  Twenty thrown_out;
  const SignalGuard signals;
  { const SignalsTo attached(signals, left.trainer); }
  try {
    const SignalsTo attached(signals, thrown_out.trainer);
    throw std::runtime_error("a step failed");
  } catch (const std::runtime_error&) {
  }

  std::raise(SIGTERM);

  CHECK(signals.stop_requested());
  CHECK(left.end() == EventKind::finished);
  CHECK(thrown_out.end() == EventKind::finished);
}

}  // namespace zygos::app::test_signals
