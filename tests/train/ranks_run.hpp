// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// One run whose lanes belong to several ranks, which are threads of this process.
#pragma once

#include "small_run.hpp"

#include "zygos/comm/in_process.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace zygos::test {

/// Lanes "worker0", "worker1", ..., all emulated so that any process may have any of them.
inline std::vector<lane::LaneSpec> equal_workers(int count) {
  std::vector<lane::LaneSpec> specs;
  for (int i = 0; i < count; ++i) {
    specs.push_back(emulated_lane());
    specs.back().name = "worker" + std::to_string(i);
  }
  return specs;
}

/// Lane i belongs to rank i * ranks / lanes.
inline std::vector<int> dealt_out(std::size_t lanes, int ranks) {
  std::vector<int> owners;
  for (std::size_t i = 0; i < lanes; ++i) {
    owners.push_back(static_cast<int>(i) * ranks / static_cast<int>(lanes));
  }
  return owners;
}

/// The part of a run that one rank holds.
struct RankRun : SmallRun {
  RankRun(const std::vector<lane::LaneSpec>& specs, comm::Communicator& communicator)
      : SmallRun({specs.front()}) {
    options.communicator = &communicator;
    options.owners = dealt_out(specs.size(), communicator.size());
    lanes = lane::LaneSet();
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (options.owners[i] == communicator.rank()) {
        lanes.add(specs[i]);
      } else {
        lanes.add_remote(specs[i]);
      }
    }
  }
};

/// Runs `work(communicator)` as every rank of a group and rethrows nothing: what a rank threw is in
/// the list, by rank.
inline std::vector<std::exception_ptr> as_ranks(
    int ranks, const std::function<void(comm::Communicator&)>& work) {
  auto group = comm::in_process_group(ranks, {.time_limit_s = 60.0});
  std::vector<std::exception_ptr> failures(group.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < group.size(); ++rank) {
    threads.emplace_back([&, rank, communicator = std::move(group[rank])] {
      try {
        work(*communicator);
      } catch (...) {
        failures[rank] = std::current_exception();
      }
    });
  }
  std::ranges::for_each(threads, &std::thread::join);
  return failures;
}

}  // namespace zygos::test
