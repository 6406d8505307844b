// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/staleness.hpp"

#include <algorithm>
#include <map>

namespace zygos::plan {

std::vector<std::int32_t> staleness(const schedule::Schedule& schedule) {
  using schedule::TaskKind;
  // Per place and update, the oldest version that its passes used.
  std::map<std::pair<schedule::Stage, std::int32_t>, schedule::Version> oldest;
  const auto stage_of = [&](const schedule::Task& task) {
    return schedule.stage_of[static_cast<std::size_t>(task.place)];
  };
  const auto update_of = [&](const schedule::Task& task) {
    for (std::size_t update = 0; update < schedule.updates.size(); ++update) {
      if (task.samples.begin < schedule.updates[update].end) {
        return static_cast<std::int32_t>(update);
      }
    }
    return std::int32_t{0};
  };
  for (const schedule::Task& task : schedule.tasks) {
    if (task.kind == TaskKind::backward) {
      const std::pair key(stage_of(task), update_of(task));
      const auto [found, fresh] = oldest.try_emplace(key, task.version);
      found->second = fresh ? task.version : std::min(found->second, task.version);
    }
  }
  std::vector<std::int32_t> result(schedule.places.size(), 0);
  for (const schedule::Task& task : schedule.tasks) {
    if (!makes_version(task.kind)) {
      continue;
    }
    const auto found = oldest.find({stage_of(task), task.update});
    if (found != oldest.end()) {
      auto& most = result[static_cast<std::size_t>(task.place)];
      most = std::max(most, task.version - 1 - found->second);
    }
  }
  return result;
}

std::int32_t largest_staleness(const schedule::Schedule& schedule) {
  const auto all = staleness(schedule);
  return all.empty() ? 0 : std::ranges::max(all);
}

bool is_synchronous(const schedule::Schedule& schedule) { return schedule.updates.size() <= 1; }

}  // namespace zygos::plan
