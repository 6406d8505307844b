// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/measure/refinement.hpp"

#include "measure/layer_costs.hpp"
#include "measure/rounds.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/slice_factors.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace zygos::measure {
namespace {

/// What tasks took in a schedule becomes what they are predicted to take there.
void join(plan::PlaceProfile& place, const schedule::Task& task, double seconds) {
  plan::PlaceCosts& costs = place.together;
  const plan::PlaceCosts base = place.alone.empty() ? costs : place.alone;
  if (schedule::is_pass(task.kind)) {
    if (static_cast<std::size_t>(task.nodes.count()) < base.forward.size()) {
      return;  // a part of the model says nothing of its other layers
    }
    set_whole_pass(costs, base, task.kind, task.samples.count(), seconds);
  } else {
    costs.others[task.kind].set(plan::amount_of(task), seconds);
  }
}

void learn(const schedule::Schedule& schedule, const MeasuredPoint& point, plan::Profile& profile) {
  if (!schedule.slices.empty()) {
    return plan::learn_slices(schedule, point.task_s, profile);
  }
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    join(profile.places[static_cast<std::size_t>(task.place)], task,
         std::max(0.0, point.task_s[id] - profile.task_overhead_s));
  }
}

}  // namespace

Refinement::Refinement(const ProfileRequest& request, plan::Profile& profile)
    : request_(request), profile_(profile), before_(profile) {}

Refinement::~Refinement() = default;

bool Refinement::add(schedule::Schedule schedule) {
  ZYGOS_REQUIRE(!schedule.slices.empty() || schedule.further_lanes.empty(),
                "places that share a lane say nothing of the whole model's layers");
  const std::string what = "policy '" + schedule.policy + "'";
  RoundsRun run{{std::move(schedule)},
                what,
                request_.batch.samples(),
                request_.seconds_per_point,
                [this](const schedule::Schedule& made, const MeasuredPoint& point) {
                  learn(made, point, profile_);
                }};
  if (!run.measure(request_, 0)) {
    return false;
  }
  run.teach();
  runs_.push_back(std::move(run));
  return true;
}

void Refinement::repeat() {
  for (int round = 1; round < profile_rounds; ++round) {
    for (RoundsRun& run : runs_) {
      run.measure(request_, round);
    }
  }
  profile_ = before_;
  for (const RoundsRun& run : runs_) {
    run.teach();
  }
}

}  // namespace zygos::measure
