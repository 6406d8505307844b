// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/recommendation.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/sharding.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <numeric>
#include <optional>

namespace zygos::plan {
namespace {

using schedule::TaskKind;

std::string number(double value, const char* format) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) {
    return number(seconds * 1e6, "%.0f us");
  }
  return seconds < 1.0 ? number(seconds * 1e3, "%.3g ms") : number(seconds, "%.3g s");
}

std::string rate_text(double samples_per_s) {
  if (samples_per_s >= 1e6) {
    return number(samples_per_s / 1e6, "%.3g M samples/s");
  }
  return samples_per_s >= 1e3 ? number(samples_per_s / 1e3, "%.3g k samples/s")
                              : number(samples_per_s, "%.3g samples/s");
}

/// Time of the tasks that are `wanted`, on the lane where they take longest.
template <class Wanted>
double slowest(const Candidate& candidate, Wanted&& wanted) {
  std::vector<double> by_lane(candidate.schedule.lane_count(), 0.0);
  for (std::size_t id = 0; id < candidate.schedule.tasks.size(); ++id) {
    const schedule::Task& task = candidate.schedule.tasks[id];
    if (wanted(task.kind)) {
      const TaskTime& time = candidate.simulation.tasks[id];
      by_lane[candidate.schedule.lane_of(task.place)] += time.end_s - time.start_s;
    }
  }
  return *std::ranges::max_element(by_lane);
}

double slowest(const Candidate& candidate, TaskKind wanted) {
  return slowest(candidate, [&](TaskKind kind) { return kind == wanted; });
}

double slowest_transfers(const Candidate& candidate) {
  return slowest(candidate, [](TaskKind kind) {
    return schedule::traits_of(kind).cost == schedule::CostFamily::transfer;
  });
}

/// Every place has the whole model, so places differ in their samples only.
bool has_replicas(const Candidate& candidate) { return candidate.schedule.stages.size() <= 1; }

std::string layers_text(const Problem& problem, const schedule::Schedule& schedule,
                        schedule::NodeRange nodes) {
  const auto name = [&](std::int32_t node) { return node_name(schedule, problem.model, node); };
  return nodes.count() == 1 ? name(nodes.begin) : name(nodes.begin) + " to " + name(nodes.end - 1);
}

/// Of all places on the lane of this one, if they are parts of the whole model.
schedule::NodeRange nodes_on_lane(const schedule::Schedule& schedule, schedule::Place place) {
  schedule::NodeRange all = schedule.nodes_of(place);
  for (const schedule::Place other : schedule.active_places()) {
    const schedule::NodeRange nodes = schedule.nodes_of(other);
    if (schedule.slices.empty() && schedule.lane_of(other) == schedule.lane_of(place)) {
      all = {std::min(all.begin, nodes.begin), std::max(all.end, nodes.end)};
    }
  }
  return all;
}

/// "20", "fc1 to fc8", "80 of fc1 to fc8" where others have the same layers.
std::string work_text(const Problem& problem, const Candidate& split, schedule::Place place) {
  const schedule::NodeRange nodes = nodes_on_lane(split.schedule, place);
  const std::int64_t samples = split.schedule.sample_counts()[static_cast<std::size_t>(place)];
  if (nodes.count() == 0) {
    return "updates";
  }
  if (has_replicas(split)) {
    return std::to_string(samples);
  }
  return (samples < split.schedule.batch ? std::to_string(samples) + " of " : std::string()) +
         layers_text(problem, split.schedule, nodes);
}

/// "20 on host and 80 on device", "fc1 to fc8 on host and fc9 to out on device".
std::string split_text(const Problem& problem, const Candidate& split) {
  std::string out;
  std::vector<std::string> said(split.schedule.lane_count());
  for (const schedule::Place place : split.schedule.active_places()) {
    const std::size_t lane = split.schedule.lane_of(place);
    std::string work = work_text(problem, split, place);
    if (work != said[lane]) {
      out += (out.empty() ? "" : " and ") + work + " on " + problem.places[lane].name;
      said[lane] = std::move(work);
    }
  }
  return out;
}

std::string rates_text(const Problem& problem, const std::vector<double>& rates) {
  std::string out;
  for (std::size_t place = 0; place < rates.size(); ++place) {
    out += (place == 0 ? "" : ", ") + problem.places[place].name + " " +
           (rates[place] > 0.0 ? rate_text(rates[place]) : "can't hold the batch alone");
  }
  return out;
}

std::string bound_text(const Problem& problem, const std::vector<double>& rates, double bound) {
  const auto fastest = static_cast<std::size_t>(std::ranges::max_element(rates) - rates.begin());
  std::string terms = "1";
  for (std::size_t place = 0; place < rates.size(); ++place) {
    if (place != fastest) {
      terms += " + s_" + problem.places[place].name + "/s_" + problem.places[fastest].name;
    }
  }
  return "a split can gain at most " + terms + " = " + number(bound, "%.3f");
}

std::string cost_text(const Candidate& split) {
  return "copying the batch takes " + time_text(slowest(split, TaskKind::copy)) +
         (has_replicas(split) ? ", exchanging gradients " : ", moving activations ") +
         time_text(slowest_transfers(split)) + " and updating " +
         time_text(slowest(split, TaskKind::update)) + " of a step of " + time_text(split.step_s);
}

std::string verdict_text(const Problem& problem, const Candidate& best) {
  const auto active = best.schedule.active_lanes();
  if (active.size() == 1) {
    return problem.places[active.front()].name + " only";
  }
  return best.schedule.policy == "coarse_split" ? "split" : best.policy;
}

/// What the time of one candidate goes to.
std::string reason_of(const Problem& problem, const Candidate& one) {
  const auto& busy = one.simulation.busy_s;
  const auto busiest = static_cast<std::size_t>(std::ranges::max_element(busy) - busy.begin());
  std::string out = problem.places[busiest].name + " works " + time_text(busy[busiest]) + " of " +
                    time_text(one.step_s);
  if (one.is_split()) {
    out += ", lanes idle " + number(100.0 * one.idle_share(), "%.0f %%");
    out += ", " + std::to_string(one.messages()) + " messages take " +
           time_text(slowest_transfers(one));
  }
  const double again = slowest(one, TaskKind::recompute);
  return out + (again > 0.0 ? ", recomputing takes " + time_text(again) : std::string());
}

std::string gain_text(const Problem& problem, const Candidate& split, bool has_single, bool splits,
                      bool has_rates) {
  const std::string shares = split_text(problem, split);
  if (!has_single) {
    return (has_rates ? "a lane alone is no choice here, the split is "
                      : "no lane can hold the batch alone, the split is ") +
           shares;
  }
  const std::string gain = number(split.speedup, "%.3f");
  return splits ? "with " + shares + " the predicted gain is " + gain
                : "the best split (" + shares + ") is predicted to gain " + gain +
                      ", too little to be worth it";
}

/// Index of the fastest candidate that `fits`.
template <class Fits>
std::optional<std::size_t> fastest(const std::vector<Candidate>& candidates, Fits fits) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (std::invoke(fits, candidates[i]) &&
        (!found || candidates[i].step_s < candidates[*found].step_s)) {
      found = i;
    }
  }
  return found;
}

}  // namespace

std::vector<double> sample_rates(const Profile& profile, std::int64_t batch) {
  std::vector<double> rates;
  for (const PlaceProfile& place : profile.places) {
    const PlaceCosts& costs = place.alone;
    const schedule::NodeRange all{0, static_cast<std::int32_t>(costs.forward.size())};
    const auto loss = costs.others.find(TaskKind::loss);
    double seconds = loss == costs.others.end() ? 0.0 : loss->second.at(batch);
    for (const TaskKind kind : {TaskKind::forward, TaskKind::backward}) {
      seconds += costs.empty() ? 0.0 : costs.pass_seconds(kind, all, batch);
    }
    rates.push_back(seconds > 0.0 ? static_cast<double>(batch) / seconds : 0.0);
  }
  return rates;
}

std::int64_t best_first_share(const Profile& profile, std::int64_t batch,
                              const SplitSchedule& split) {
  const auto step_s = [&](std::int64_t first) {
    return simulate(split(first), profile).makespan_s;
  };
  // Coarse to fine: the step is a maximum of two nearly straight lines, so the best of a coarse
  // grid lies next to the best of all.
  std::int64_t best = 0;
  double best_s = step_s(0);
  const auto consider = [&](std::int64_t first) {
    const double seconds = step_s(first);
    if (seconds < best_s) {
      best = first;
      best_s = seconds;
    }
  };
  const auto try_all = [&](std::int64_t low, std::int64_t high, std::int64_t stride) {
    for (std::int64_t first = std::max<std::int64_t>(low, 0); first <= std::min(high, batch);
         first += stride) {
      consider(first);
    }
  };
  std::int64_t stride = std::max<std::int64_t>(1, batch / 64);
  try_all(0, batch, stride);
  while (stride > 1) {
    const std::int64_t finer = std::max<std::int64_t>(1, stride / 8);
    try_all(best - stride, best + stride, finer);
    stride = finer;
  }
  consider(batch);
  return best;
}

namespace {

using StepSeconds = std::function<double(const std::vector<std::int64_t>&)>;

/// Shifts between all pairs of workers; true if one has made the step shorter.
bool improves(std::vector<std::int64_t>& best, double& best_s, std::int64_t shift,
              std::int64_t least, const StepSeconds& step_s) {
  bool better = false;
  for (std::size_t from = 0; from < best.size(); ++from) {
    for (std::size_t to = 0; to < best.size(); ++to) {
      std::vector<std::int64_t> tried = best;
      tried[from] -= shift;
      tried[to] += shift;
      if (from == to || tried[from] < least) {
        continue;
      }
      const double tried_s = step_s(tried);
      if (tried_s < best_s) {
        best_s = tried_s;
        best = std::move(tried);
        better = true;
      }
    }
  }
  return better;
}

}  // namespace

std::vector<std::int64_t> best_division(std::vector<std::int64_t> start,
                                        const DivisionSearch& search, const StepSeconds& step_s) {
  double best_s = step_s(start);
  for (std::int64_t shift = std::max<std::int64_t>(1, search.first_shift);
       shift >= std::max<std::int64_t>(1, search.last_shift); shift /= 2) {
    while (improves(start, best_s, shift, search.least, step_s)) {
    }
  }
  return start;
}

Candidate candidate(std::string policy, schedule::Schedule schedule, const Profile& profile) {
  Candidate out;
  out.policy = std::move(policy);
  out.samples = schedule.lane_sample_counts();
  out.simulation = simulate(schedule, profile);
  out.step_s = out.simulation.makespan_s;
  out.schedule = std::move(schedule);
  return out;
}

Recommendation recommend(const Problem& problem, const Profile& profile,
                         std::vector<Candidate> candidates, double threshold) {
  ZYGOS_REQUIRE(!candidates.empty(), "there is nothing to recommend from");
  const auto single = fastest(candidates, [](const Candidate& one) { return !one.is_split(); });
  auto split =
      fastest(candidates, [](const Candidate& one) { return one.is_split() && one.eligible; });
  if (!single && !split) {
    split = fastest(candidates, &Candidate::is_split);
  }
  for (Candidate& candidate : candidates) {
    candidate.speedup = single ? candidates[*single].step_s / candidate.step_s : 1.0;
    candidate.reason = reason_of(problem, candidate);
  }
  Recommendation out;
  const std::vector<double> rates = sample_rates(profile, problem.batch);
  std::string facts = rates_text(problem, rates);
  if (split && std::ranges::min(rates) > 0.0) {
    out.upper_bound = std::accumulate(rates.begin(), rates.end(), 0.0) / std::ranges::max(rates);
    facts += ": " + bound_text(problem, rates, out.upper_bound);
  }
  if (split) {
    facts += "; " + cost_text(candidates[*split]);
  }
  const bool splits = split && (!single || candidates[*split].speedup > 1.0 + threshold);
  out.best = splits ? *split : *single;
  out.reason = verdict_text(problem, candidates[out.best]) + ": " + facts +
               (split ? "; " + gain_text(problem, candidates[*split], single.has_value(), splits,
                                         std::ranges::max(rates) > 0.0)
                      : std::string());
  out.order.resize(candidates.size());
  std::iota(out.order.begin(), out.order.end(), std::size_t{0});
  std::ranges::stable_sort(out.order, {}, [&](std::size_t i) { return candidates[i].step_s; });
  out.candidates = std::move(candidates);
  return out;
}

}  // namespace zygos::plan
