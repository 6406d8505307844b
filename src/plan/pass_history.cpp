// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/pass_history.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <utility>

namespace zygos::plan {
namespace {

/// The place of a pass, and whether it is a backward one.
using Pass = std::pair<schedule::Place, bool>;

/// Of one lane. Another place's pass in between takes the caches, too.
struct Done {
  std::set<std::pair<Pass, std::int32_t>> passes{};  ///< and their first nodes
  std::optional<Pass> last{};
};

}  // namespace

std::vector<PassHistory> pass_histories(const schedule::Schedule& schedule) {
  std::vector<PassHistory> histories(schedule.tasks.size(), PassHistory::first);
  std::vector<Done> lanes(schedule.lane_count());
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    if (schedule::is_pass(task.kind)) {
      Done& done = lanes[schedule.lane_of(task.place)];
      const Pass pass{task.place, task.kind == schedule::TaskKind::backward};
      if (!done.passes.insert({pass, task.nodes.begin}).second) {
        histories[id] = done.last == pass ? PassHistory::again : PassHistory::alternating;
      }
      done.last = pass;
    }
  }
  return histories;
}

}  // namespace zygos::plan
