// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Which of one or two lanes should train, and with which share.
#include "train/layer_costs.hpp"
#include "train/median.hpp"
#include "train/profile_run.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>

namespace zygos::train {
namespace {

using schedule::TaskKind;

/// The whole batch on one of at most two places.
schedule::Schedule alone_on(const ProfileRequest& request, std::size_t place) {
  return request.schedule(place == 0 ? request.batch.samples() : 0);
}

plan::Candidate single_candidate(const ProfileRequest& request, const plan::Profile& profile,
                                 std::size_t place) {
  return plan::candidate("single(" + request.lanes[place].name() + ")", alone_on(request, place),
                         profile);
}

plan::Candidate split_candidate(const ProfileRequest& request, const plan::Profile& profile,
                                std::int64_t first) {
  const double share = static_cast<double>(first) / static_cast<double>(request.batch.samples());
  return plan::candidate("coarse_split(share " + std::to_string(share).substr(0, 5) + ")",
                         request.schedule(first), profile);
}

/// What tasks took in a split becomes what they are predicted to take there.
void join(plan::PlaceProfile& place, const schedule::Task& task, double seconds) {
  plan::PlaceCosts& costs = place.together;
  const plan::PlaceCosts base = place.alone.empty() ? costs : place.alone;
  if (task.kind == TaskKind::forward || task.kind == TaskKind::backward) {
    set_whole_pass(costs, base, task.kind, task.samples.count(), seconds);
  } else {
    costs.others[task.kind].set(plan::amount_of(task), seconds);
  }
}

/// Measures a split and lets the profile know; false if it does not fit the lanes' budgets.
bool measure_split(const ProfileRequest& request, std::int64_t first, plan::Profile& profile) {
  const auto engine = engine_if_fits(request, request.schedule(first),
                                     "a split with " + std::to_string(first) +
                                         " samples on lane '" + request.lanes[0].name() + "'");
  if (engine == nullptr) {
    return false;
  }
  const MeasuredPoint point = measure_steps(*engine, request.batch, request.seconds_per_point);
  const auto& tasks = engine->schedule().tasks;
  for (std::size_t id = 0; id < tasks.size(); ++id) {
    join(profile.places[static_cast<std::size_t>(tasks[id].place)], tasks[id],
         std::max(0.0, point.task_s[id] - profile.task_overhead_s));
  }
  return true;
}

}  // namespace

MeasuredGain measure_gain(const ProfileRequest& request, const schedule::Schedule& split) {
  constexpr int rounds = 5;
  std::vector<std::unique_ptr<Engine>> engines;
  for (std::size_t place = 0; place < request.lanes.size(); ++place) {
    engines.push_back(engine_if_fits(request, alone_on(request, place),
                                     "lane '" + request.lanes[place].name() + "' alone"));
  }
  engines.push_back(engine_for(request, split));
  std::vector<std::vector<double>> times(engines.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < engines.size(); ++i) {
      if (engines[i] != nullptr) {
        const auto point = measure_steps(*engines[i], request.batch, request.seconds_per_point / 2);
        times[i].insert(times[i].end(), point.step_s.begin(), point.step_s.end());
      }
    }
  }
  MeasuredGain gain;
  double fastest = 0.0;
  for (std::size_t i = 0; i + 1 < engines.size(); ++i) {
    gain.single_step_s.push_back(median(times[i]));
    const double step_s = gain.single_step_s.back();
    fastest = step_s > 0.0 && (fastest == 0.0 || step_s < fastest) ? step_s : fastest;
  }
  gain.split_step_s = median(times.back());
  gain.speedup = fastest / gain.split_step_s;
  return gain;
}

PlanResult make_plan(const ProfileRequest& request) {
  PlanResult result{measure_profile(request), {}};
  plan::Profile& profile = result.profile;
  const std::int64_t batch = request.batch.samples();
  std::vector<plan::Candidate> candidates;
  for (std::size_t place = 0; place < request.lanes.size(); ++place) {
    if (!profile.places[place].alone.empty()) {
      candidates.push_back(single_candidate(request, profile, place));
    }
  }
  if (request.lanes.size() == 2 && batch >= 2 && !profile.places[0].together.empty()) {
    const auto best = std::clamp<std::int64_t>(
        plan::best_first_share(profile, batch, request.schedule), 1, batch - 1);
    if (measure_split(request, best, profile)) {
      candidates.push_back(split_candidate(request, profile, best));
    }
  }
  if (candidates.empty()) {
    throw MemoryError("neither lane nor any split of them can hold a batch of " +
                      std::to_string(batch) + " samples; lower train.batch or raise the budgets");
  }
  result.recommendation = plan::recommend(
      problem_of(request.graph, request.lanes, request.options.dtype, request.target, batch),
      profile, std::move(candidates));
  return result;
}

}  // namespace zygos::train
