// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/train/profiler.hpp"

#include "train/median.hpp"
#include "train/stopwatch_run.hpp"

#include <algorithm>
#include <set>

namespace zygos::train {
namespace {

Batch first_samples(const Batch& batch, std::int64_t count) {
  return {batch.inputs, batch.targets, batch.ids.first(static_cast<std::size_t>(count))};
}

EngineOptions measuring(EngineOptions options) {
  options.time_every_task = true;
  options.trace_capacity = std::max<std::size_t>(options.trace_capacity, std::size_t{1} << 14);
  return options;
}

std::unique_ptr<Engine> engine_for(const ProfileRequest& request, schedule::Schedule schedule) {
  auto engine =
      std::make_unique<Engine>(request.graph, request.optimizer, request.lanes, std::move(schedule),
                               request.target, measuring(request.options));
  engine->initialise();
  return engine;
}

/// The whole batch on one of at most two places.
schedule::Schedule alone_on(const ProfileRequest& request, std::size_t place) {
  return request.schedule(place == 0 ? request.batch.samples() : 0);
}

/// nullptr if the place's memory cannot hold the whole batch.
std::unique_ptr<Engine> engine_alone_on(const ProfileRequest& request, std::size_t place) {
  try {
    return engine_for(request, alone_on(request, place));
  } catch (const MemoryError& error) {
    log(request.log, LogLevel::info,
        "lane '" + request.lanes[place].name() + "' can't hold the batch alone: " + error.what());
    return nullptr;
  }
}

std::set<std::int64_t> fractions(std::int64_t batch, const std::vector<double>& parts,
                                 std::int64_t least, std::int64_t most) {
  std::set<std::int64_t> counts;
  for (const double part : parts) {
    const auto count = static_cast<std::int64_t>(static_cast<double>(batch) * part + 0.5);
    counts.insert(std::clamp(count, least, most));
  }
  return counts;
}

/// All of a pass is charged to the first node.
void add_point(plan::PlaceCosts& costs, std::size_t nodes, schedule::TaskKind kind,
               std::int64_t samples, double seconds) {
  const bool forward = kind == schedule::TaskKind::forward;
  if (!forward && kind != schedule::TaskKind::backward) {
    costs.others[kind].add(samples, seconds);
    return;
  }
  auto& curves = forward ? costs.forward : costs.backward;
  curves.resize(nodes);
  for (std::size_t node = 0; node < nodes; ++node) {
    curves[node].add(samples, node == 0 ? seconds : 0.0);
  }
}

void add_together(plan::Profile& profile, const schedule::Schedule& schedule,
                  const MeasuredPoint& point) {
  for (std::size_t place = 0; place < profile.places.size(); ++place) {
    const auto samples = schedule.samples_of(static_cast<schedule::Place>(place)).count();
    for (const auto& [kind, seconds] : point.task_s[place]) {
      add_point(profile.places[place].together, schedule.parameters.size(), kind, samples, seconds);
    }
  }
}

void measure_alone(const ProfileRequest& request, std::size_t place, plan::Profile& profile,
                   std::vector<double>& overheads) {
  const auto engine = engine_alone_on(request, place);
  if (engine == nullptr) {
    return;
  }
  const std::int64_t batch = request.batch.samples();
  for (const std::int64_t count : fractions(batch, {0.125, 0.25, 0.5, 1.0}, 1, batch)) {
    const MeasuredPoint point =
        measure_steps(*engine, first_samples(request.batch, count), request.seconds_per_point);
    for (const auto& [kind, seconds] : point.task_s[place]) {
      add_point(profile.places[place].alone, request.graph.nodes().size(), kind, count, seconds);
    }
    overheads.push_back(point.overhead_s);
  }
  log(request.log, LogLevel::info, "measured lane '" + request.lanes[place].name() + "' alone");
}

/// Measures one split; false if it does not fit the lanes' budgets.
bool measure_together(const ProfileRequest& request, std::int64_t first, plan::Profile& profile,
                      std::vector<double>& overheads) {
  try {
    const auto engine = engine_for(request, request.schedule(first));
    const MeasuredPoint point = measure_steps(*engine, request.batch, request.seconds_per_point);
    add_together(profile, engine->schedule(), point);
    overheads.push_back(point.overhead_s);
    return true;
  } catch (const MemoryError& error) {
    log(request.log, LogLevel::info,
        "a split with " + std::to_string(first) + " samples on lane '" + request.lanes[0].name() +
            "' does not fit: " + error.what());
    return false;
  }
}

plan::Candidate single_candidate(const ProfileRequest& request, const plan::Profile& profile,
                                 std::size_t place) {
  plan::Candidate out;
  out.policy = "single(" + request.lanes[place].name() + ")";
  out.samples.assign(request.lanes.size(), 0);
  out.samples[place] = request.batch.samples();
  out.schedule = alone_on(request, place);
  out.simulation = plan::simulate(out.schedule, profile);
  out.step_s = out.simulation.makespan_s;
  return out;
}

plan::Candidate split_candidate(const ProfileRequest& request, const plan::Profile& profile,
                                std::int64_t first) {
  const std::int64_t batch = request.batch.samples();
  const double share = static_cast<double>(first) / static_cast<double>(batch);
  plan::Candidate out;
  out.policy = "coarse_split(share " + std::to_string(share).substr(0, 5) + ")";
  out.samples = {first, batch - first};
  out.schedule = request.schedule(first);
  out.simulation = plan::simulate(out.schedule, profile);
  out.step_s = out.simulation.makespan_s;
  return out;
}

}  // namespace

plan::Problem problem_of(const graph::Graph& graph, const lane::LaneSet& lanes, DType dtype,
                         const plan::TargetSpec& target, std::int64_t batch) {
  plan::Problem problem;
  for (std::size_t place = 0; place < lanes.size(); ++place) {
    const lane::Lane& lane = lanes[place];
    problem.places.push_back(
        {lane.name(), lane.spec().kind, lane.host_accessible(), lane.spec().budget_bytes});
  }
  problem.batch = batch;
  problem.model = plan::outline_of(graph, dtype, target);
  return problem;
}

plan::Profile measure_profile(const ProfileRequest& request) {
  if (request.lanes.size() > 2) {
    throw UsageError("a profile is measured for one or two lanes; this run has " +
                     std::to_string(request.lanes.size()) + ". Give policy.share a number");
  }
  plan::Profile profile;
  profile.places.resize(request.lanes.size());
  std::vector<double> overheads;
  for (std::size_t place = 0; place < request.lanes.size(); ++place) {
    measure_alone(request, place, profile, overheads);
  }
  const std::int64_t batch = request.batch.samples();
  if (request.lanes.size() == 2 && batch >= 2) {
    for (const std::int64_t first :
         fractions(batch, {0.125, 0.25, 0.5, 0.75, 0.875}, 1, batch - 1)) {
      measure_together(request, first, profile, overheads);
    }
    log(request.log, LogLevel::info, "measured both lanes together");
  }
  profile.step_overhead_s = median(std::move(overheads));
  return profile;
}

MeasuredGain measure_gain(const ProfileRequest& request, const schedule::Schedule& split) {
  constexpr int rounds = 5;
  std::vector<std::unique_ptr<Engine>> engines;
  for (std::size_t place = 0; place < request.lanes.size(); ++place) {
    engines.push_back(engine_alone_on(request, place));
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
  const bool can_split = request.lanes.size() == 2 && !profile.places[0].together.empty();
  if (can_split) {
    const auto best = std::clamp<std::int64_t>(
        plan::best_first_share(profile, batch, request.schedule), 1, batch - 1);
    std::vector<double> overheads;  // known well enough already
    measure_together(request, best, profile, overheads);
    candidates.push_back(split_candidate(request, profile, best));
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
