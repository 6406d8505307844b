// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a schedule takes beside the lanes alone.
#include "core/median.hpp"
#include "measure/profile_run.hpp"
#include "measure/profile_schedules.hpp"

#include "zygos/train/problem.hpp"

#include <algorithm>
#include <chrono>

namespace zygos::measure {
namespace {

/// One schedule of the comparison, measured in rounds. Its engine lives for a round only: all share
/// the lanes' budgets.
struct Contender {
  schedule::Schedule schedule;
  std::string name;
  bool fits = true;
  std::vector<double> step_s;
  std::vector<double> idle;
};

double idle_of(const MeasuredPoint& point, const schedule::Schedule& schedule) {
  double busy_s = 0.0;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    busy_s += schedule.tasks[id].queue == schedule::Queue::compute ? point.task_s[id] : 0.0;
  }
  // Between the first start and the last end of its tasks, as a simulation counts it.
  const double whole_s = (median(point.step_s) - point.overhead_s) *
                         static_cast<double>(schedule.active_lanes().size());
  return whole_s > 0.0 ? std::clamp(1.0 - busy_s / whole_s, 0.0, 1.0) : 0.0;
}

void measure(const ProfileRequest& request, Contender& contender) {
  const auto engine = engine_if_fits(request, contender.schedule, contender.name);
  contender.fits = engine != nullptr;
  if (contender.fits) {
    const MeasuredPoint point =
        engine->measure(request.batch.samples(), request.seconds_per_point / 2);
    contender.step_s.insert(contender.step_s.end(), point.step_s.begin(), point.step_s.end());
    contender.idle.push_back(idle_of(point, contender.schedule));
  }
}

std::vector<Contender> single_lane_contenders(const ProfileRequest& request) {
  plan::Problem problem = train::problem_of(request.graph, request.lanes, request.options.dtype,
                                            request.target, request.batch.samples(), request.chunk);
  problem.clips = request.optimizer.clip_norm().has_value();
  problem.accumulate = request.accumulate;
  problem.batch_slots = request.batch_slots;
  problem.activations = request.activations;
  problem.prefetch = request.prefetch;
  std::vector<Contender> contenders;
  for (std::size_t place = 0; place < problem.places.size(); ++place) {
    contenders.push_back({single_lane_schedule(problem, static_cast<schedule::Place>(place), false),
                          "lane '" + problem.places[place].name + "' alone",
                          true,
                          {},
                          {}});
  }
  return contenders;
}

}  // namespace

MeasuredGain measure_gain(const ProfileRequest& request, const schedule::Schedule& schedule) {
  // A machine drifts, so rounds; of long steps a few say enough.
  constexpr int min_rounds = 2;
  constexpr int max_rounds = 5;
  constexpr std::chrono::seconds enough{10};
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Contender> contenders = single_lane_contenders(request);
  contenders.push_back({schedule, "policy '" + schedule.policy + "'", true, {}, {}});
  const auto goes_on = [&](int rounds) {
    return rounds < min_rounds ||
           (rounds < max_rounds && std::chrono::steady_clock::now() - begin < enough);
  };
  for (int round = 0; goes_on(round); ++round) {
    for (Contender& contender : contenders) {
      if (contender.fits) {
        measure(request, contender);
      }
    }
  }
  MeasuredGain gain;
  double fastest = 0.0;
  for (std::size_t i = 0; i + 1 < contenders.size(); ++i) {
    gain.single_step_s.push_back(median(contenders[i].step_s));
    const double step_s = gain.single_step_s.back();
    fastest = step_s > 0.0 && (fastest == 0.0 || step_s < fastest) ? step_s : fastest;
  }
  gain.step_s = median(contenders.back().step_s);
  gain.speedup = gain.step_s > 0.0 ? fastest / gain.step_s : 0.0;
  gain.idle = median(contenders.back().idle);
  return gain;
}

}  // namespace zygos::measure
