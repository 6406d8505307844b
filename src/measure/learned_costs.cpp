// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/learned_costs.hpp"

#include "core/median.hpp"
#include "measure/layer_costs.hpp"
#include "measure/profile_run.hpp"

#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace zygos::measure {
namespace {

using plan::PlaceCosts;
using schedule::is_pass;
using schedule::Place;
using schedule::Schedule;
using schedule::Task;
using schedule::TaskKind;

std::size_t index_of(Place place) { return static_cast<std::size_t>(place); }

/// Whether the profile takes the task's time: not of what peers read in place, which takes none.
bool is_message_or_update(const Task& task, const plan::PlaceProfile& place) {
  const bool sends = task.kind == TaskKind::send || task.kind == TaskKind::broadcast;
  const bool free = sends && schedule::is_read_in_place(task, place.host_accessible);
  const bool transfers = schedule::traits_of(task.kind).cost == schedule::CostFamily::transfer;
  return (transfers && !free) || task.kind == TaskKind::update || task.kind == TaskKind::squares;
}

}  // namespace

void learn_first_passes(const Schedule& schedule, const MeasuredPoint& point,
                        plan::Profile& profile) {
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const Task& pass = schedule.tasks[id];
    if (is_pass(pass.kind) && point.accompanied_s[id] > 0.0) {
      raise_pass(profile.places[index_of(pass.place)].together, pass.kind, pass.samples.count(),
                 point.accompanied_s[id]);
    }
  }
}

void learn_passes_behind(const Schedule& schedule, const MeasuredPoint& point,
                         plan::Profile& profile) {
  const auto histories = plan::pass_histories(schedule);
  std::map<std::tuple<Place, TaskKind, plan::PassHistory>, std::vector<std::size_t>> passes;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const Task& task = schedule.tasks[id];
    if (is_pass(task.kind) && histories[id] != plan::PassHistory::first) {
      passes[{task.place, task.kind, histories[id]}].push_back(id);
    }
  }
  for (const auto& [what, ids] : passes) {
    const Task& pass = schedule.tasks[ids[0]];
    plan::PlaceProfile& place = profile.places[index_of(pass.place)];
    const bool alone = place.together.forward.empty() || place.together.backward.empty();
    const PlaceCosts& costs = alone ? place.alone : place.together;
    if (costs.forward.empty() || costs.backward.empty()) {
      continue;
    }
    std::vector<double> seconds;
    for (const std::size_t id : ids) {
      seconds.push_back(point.task_s[id]);
    }
    const bool again = std::get<plan::PassHistory>(what) == plan::PassHistory::again;
    const double one_s = costs.pass_seconds(pass.kind, pass.nodes, pass.samples.count());
    share_out(median(std::move(seconds)) - one_s, pass.nodes, pass.samples.count(),
              costs.of(pass.kind), (again ? place.again : place.alternating).of(pass.kind));
  }
}

void learn_transfers(const Schedule& schedule, const MeasuredPoint& point, std::int64_t samples,
                     plan::Profile& profile) {
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const Task task = with_samples(schedule.tasks[id], samples);
    plan::PlaceProfile& place = profile.places[index_of(task.place)];
    for (PlaceCosts* costs : {&place.alone, &place.together}) {
      if (is_message_or_update(task, place) && !costs->empty()) {
        costs->others[task.kind].add(plan::amount_of(task), point.task_s[id]);
        if (task.queue != schedule::Queue::compute) {
          costs->core[task.kind].add(plan::amount_of(task), point.core_s[id]);
        }
      }
    }
  }
}

}  // namespace zygos::measure
