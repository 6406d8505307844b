// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What tests of pipelines ask of a schedule, counted task by task.
#pragma once

#include "zygos/plan/simulator.hpp"
#include "zygos/schedule/schedule.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace zygos::test {

/// One stage's forward takes 1, its backward 2, and nothing else takes time.
inline plan::Simulation unit_times(const schedule::Schedule& schedule) {
  return plan::simulate(schedule, [](const schedule::Task& task) {
    switch (task.kind) {
      case schedule::TaskKind::forward:
      case schedule::TaskKind::recompute:
        return 1.0;
      case schedule::TaskKind::backward:
        return 2.0;
      default:
        return 0.0;
    }
  });
}

inline std::int64_t count_of(const schedule::Schedule& schedule, schedule::TaskKind kind,
                             schedule::Place place) {
  return std::ranges::count_if(schedule.tasks, [&](const schedule::Task& task) {
    return task.kind == kind && task.place == place;
  });
}

/// Micro-batches of a place between their forward and their backward, at most at any time.
inline std::int64_t max_in_flight(const schedule::Schedule& schedule, schedule::Place place) {
  std::int64_t now = 0;
  std::int64_t most = 0;
  for (const schedule::Task& task : schedule.tasks) {
    if (task.place == place) {
      now += task.kind == schedule::TaskKind::forward ? 1 : 0;
      now -= task.kind == schedule::TaskKind::backward ? 1 : 0;
      most = std::max(most, now);
    }
  }
  return most;
}

/// Copies of its weights that a place has room for: the current one and those that are stashed.
inline std::size_t versions_of(const schedule::Schedule& schedule, schedule::Place place) {
  std::set<std::int32_t> slots{0};
  for (const schedule::Task& task : schedule.tasks) {
    if (task.place == place && task.kind == schedule::TaskKind::stash) {
      slots.insert(task.slot);
    }
  }
  return slots.size();
}

/// By update: how many updates older the weights are that its gradient was computed with. Passes
/// between two updates must agree.
inline std::vector<std::int32_t> staleness_of(const schedule::Schedule& schedule,
                                              schedule::Place place) {
  std::vector<std::int32_t> staleness;
  std::set<schedule::Version> used;
  for (const schedule::Task& task : schedule.tasks) {
    if (task.place != place) {
      continue;
    }
    if (task.kind == schedule::TaskKind::backward) {
      used.insert(task.version);
    }
    if (task.kind == schedule::TaskKind::update) {
      staleness.push_back(used.size() == 1 ? task.version - 1 - *used.begin() : -1);
      used.clear();
    }
  }
  return staleness;
}

/// Bytes of activations between places: each is sent once for every stage that reads it, and its
/// gradient back.
inline std::int64_t payload_bytes(const schedule::Schedule& schedule, schedule::Payload payload) {
  std::int64_t bytes = 0;
  for (const schedule::Task& task : schedule.tasks) {
    if (task.payload == payload && task.kind == schedule::TaskKind::send) {
      bytes += task.bytes;
    }
  }
  return bytes;
}

/// The micro-batches of a place's backward passes, in their order.
inline std::vector<schedule::MicroBatch> backward_order(const schedule::Schedule& schedule,
                                                        schedule::Place place) {
  std::vector<schedule::MicroBatch> order;
  for (const schedule::Task& task : schedule.tasks) {
    if (task.place == place && task.kind == schedule::TaskKind::backward) {
      order.push_back(task.micro_batch);
    }
  }
  return order;
}

}  // namespace zygos::test
