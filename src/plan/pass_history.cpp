// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/pass_history.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <utility>

namespace zygos::plan {
namespace {

/// Of one place.
struct Done {
  std::set<std::pair<bool, std::int32_t>> passes{};  ///< whether backward, first node
  std::optional<bool> last_back{};
};

}  // namespace

std::vector<PassHistory> pass_histories(const schedule::Schedule& schedule) {
  std::vector<PassHistory> histories(schedule.tasks.size(), PassHistory::first);
  std::vector<Done> places(schedule.places.size());
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    Done& done = places[static_cast<std::size_t>(task.place)];
    if (schedule::is_pass(task.kind)) {
      const bool back = task.kind == schedule::TaskKind::backward;
      if (!done.passes.insert({back, task.nodes.begin}).second) {
        histories[id] = done.last_back == back ? PassHistory::again : PassHistory::alternating;
      }
      done.last_back = back;
    }
  }
  return histories;
}

}  // namespace zygos::plan
