// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/ranks.hpp"

#include "zygos/comm/in_process.hpp"

#include <exception>
#include <thread>
#include <vector>

namespace zygos::testing {
namespace {

void on_group_of(int size, const OnRank& body, const comm::Options& options) {
  auto group = comm::in_process_group(size, options);
  std::vector<std::exception_ptr> thrown(group.size());
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < group.size(); ++r) {
    threads.emplace_back([&, r] {
      const auto communicator = std::move(group[r]);
      try {
        body(*communicator);
      } catch (const std::exception& error) {
        thrown[r] = std::current_exception();
        communicator->abort(error.what());
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  // A PeerError is what the others see of it: the cause comes first.
  std::exception_ptr echo;
  for (const std::exception_ptr& one : thrown) {
    try {
      if (one != nullptr) {
        std::rethrow_exception(one);
      }
    } catch (const PeerError&) {
      echo = one;
    }
  }
  if (echo != nullptr) {
    std::rethrow_exception(echo);
  }
}

}  // namespace

void on_every_rank(const OnRank& body, const comm::Options& options) {
  for (const int size : {1, 2, 3, 4}) {
    on_group_of(size, body, options);
  }
}

}  // namespace zygos::testing
