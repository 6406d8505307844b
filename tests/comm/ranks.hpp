// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the contract are written against. Two programs are made of them: in one the
// ranks are threads, in the other they are the processes that mpirun started.
#pragma once

#include "zygos/comm/communicator.hpp"
#include "zygos/core/error.hpp"

#include <functional>
#include <stdexcept>
#include <string>

namespace zygos::testing {

using OnRank = std::function<void(comm::Communicator&)>;

/// Runs `body` on every rank of a fresh group (of several groups, one after the other, where ranks
/// are threads) and rethrows what a rank threw. A rank that throws aborts its group, so that the
/// others do not wait for it.
void on_every_rank(const OnRank& body, const comm::Options& options = {.time_limit_s = 60.0});

/// Catch2's own checks may be used by one thread only.
inline void expect(bool condition, const std::string& what) {
  if (!condition) {
    throw std::runtime_error("not so: " + what);
  }
}

/// The text of the PeerError that `action` throws; it is a failure if it throws none.
template <class Action>
std::string peer_error(Action action) {
  try {
    action();
  } catch (const PeerError& error) {
    expect(error.code() == ExitCode::peer, "a peer error has exit code 8");
    return error.what();
  }
  throw std::runtime_error("not so: a PeerError is thrown");
}

inline void expect_contains(const std::string& text, const std::string& part) {
  expect(text.find(part) != std::string::npos, "'" + text + "' contains '" + part + "'");
}

}  // namespace zygos::testing
