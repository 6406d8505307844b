// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/signals.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string_view>
#include <thread>

namespace zygos::app {

namespace {

constexpr std::array<int, watched_signals> watched{SIGTERM, SIGINT, SIGUSR1,
                                                   SIGUSR2, SIGHUP, SIGXCPU};

// A handler gets nothing but its number, so these have to be global. Lock-free atomics are
// what POSIX lets a handler touch.
std::atomic<train::Trainer*> attached{nullptr};
std::atomic<int> stops{0};
std::atomic<int> interrupts{0};
std::atomic<bool> save_asked{false};
std::atomic<int> handling{0};  ///< handlers at work, on whichever thread
static_assert(std::atomic<train::Trainer*>::is_always_lock_free);

void on_stop(train::Trainer* trainer) {
  stops.fetch_add(1);
  if (trainer != nullptr) {
    trainer->request_stop();
  }
}

/// What a handler may print with. Text that nobody takes is no reason to do anything else.
void tell(std::string_view text) {
  const int before = errno;
  const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  static_cast<void>(written);
  errno = before;
}

void handle(int signal) {
  train::Trainer* trainer = attached.load();
  if (signal == SIGUSR1) {
    save_asked = true;
    if (trainer != nullptr) {
      trainer->request_checkpoint();
    }
    return;
  }
  if (signal == SIGINT && interrupts.fetch_add(1) > 0) {
    tell("\nended at once: what came after the last checkpoint is lost\n");
    ::_exit(128 + SIGINT);
  }
  if (signal == SIGINT) {
    tell(
        "\nfinishing the step, saving; Ctrl-C again ends at once and loses what came after the "
        "last "
        "checkpoint\n");
  }
  on_stop(trainer);
}

extern "C" void zygos_on_signal(int signal) {
  handling.fetch_add(1);
  handle(signal);
  handling.fetch_sub(1);
}

/// nohup and the like: the user has said what a closed terminal is to mean.
bool is_left_ignored(int signal, const struct sigaction& before) {
  return signal == SIGHUP && before.sa_handler == SIG_IGN;
}

}  // namespace

SignalGuard::SignalGuard() {
  stops = 0;
  interrupts = 0;
  save_asked = false;
  struct sigaction action {};
  action.sa_handler = zygos_on_signal;
  ::sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < watched.size(); ++i) {
    ::sigaction(watched[i], &action, &previous_[i]);
    if (is_left_ignored(watched[i], previous_[i])) {
      ::sigaction(watched[i], &previous_[i], nullptr);
    }
  }
}

SignalGuard::~SignalGuard() {
  for (std::size_t i = 0; i < watched.size(); ++i) {
    ::sigaction(watched[i], &previous_[i], nullptr);
  }
}

bool SignalGuard::stop_requested() const { return stops.load() > 0; }

SignalsTo::SignalsTo(const SignalGuard& signals, train::Trainer& trainer) {
  attached = &trainer;
  if (signals.stop_requested()) {
    trainer.request_stop();
  }
  if (save_asked) {
    trainer.request_checkpoint();
  }
}

SignalsTo::~SignalsTo() {
  attached = nullptr;
  while (handling.load() > 0) {  // one of them may have read the address before
    std::this_thread::yield();
  }
}

}  // namespace zygos::app
