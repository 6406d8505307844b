// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/signals.hpp"

#include <unistd.h>

#include <atomic>

namespace zygos::app {

namespace {

constexpr std::array<int, 4> watched{SIGTERM, SIGINT, SIGUSR1, SIGUSR2};

// A handler gets nothing but its number, so these three have to be global. Lock-free atomics are
// what POSIX lets a handler touch.
std::atomic<train::Trainer*> attached{nullptr};
std::atomic<int> stops{0};
std::atomic<int> interrupts{0};
static_assert(std::atomic<train::Trainer*>::is_always_lock_free);

void on_stop(train::Trainer* trainer) {
  stops.fetch_add(1);
  if (trainer != nullptr) {
    trainer->request_stop();
  }
}

extern "C" void zygos_on_signal(int signal) {
  train::Trainer* trainer = attached.load();
  if (signal == SIGUSR1) {
    if (trainer != nullptr) {
      trainer->request_checkpoint();
    }
    return;
  }
  if (signal == SIGINT && interrupts.fetch_add(1) > 0) {
    ::_exit(128 + SIGINT);
  }
  on_stop(trainer);
}

}  // namespace

SignalGuard::SignalGuard() {
  stops = 0;
  interrupts = 0;
  struct sigaction action {};
  action.sa_handler = zygos_on_signal;
  ::sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < watched.size(); ++i) {
    ::sigaction(watched[i], &action, &previous_[i]);
  }
}

SignalGuard::~SignalGuard() {
  for (std::size_t i = 0; i < watched.size(); ++i) {
    ::sigaction(watched[i], &previous_[i], nullptr);
  }
  detach();
}

void SignalGuard::attach(train::Trainer& trainer) {
  attached = &trainer;
  if (stop_requested()) {
    trainer.request_stop();
  }
}

void SignalGuard::detach() { attached = nullptr; }

bool SignalGuard::stop_requested() const { return stops.load() > 0; }

}  // namespace zygos::app
