// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "zygos/lane/lane_set.hpp"
#include "zygos/plan/problem.hpp"
#include "zygos/plan/recommendation.hpp"
#include "zygos/train/engine.hpp"

namespace zygos::train {

/// What the profiler needs of a run.
struct ProfileRequest {
  const graph::Graph& graph;
  const nn::Optimizer& optimizer;
  lane::LaneSet& lanes;
  plan::TargetSpec target;
  EngineOptions options;
  Batch batch;                       ///< representative samples, schedule batch long
  double seconds_per_point = 0.15;   ///< measuring time of one engine at one split
};

plan::Problem problem_of(const ProfileRequest& request);

/// Runs the real tasks through the real engine: every place alone at several batch sizes, and (with
/// two places) both together at several splits. Takes about
/// (2 places x 4 + 5) x seconds_per_point. A place whose budget can't hold a point is measured at
/// fewer samples.
plan::Profile measure_profile(const ProfileRequest& request);

/// Seconds of the fastest single place and of `schedule`, measured in turn (a, b, a, b, ...) so that
/// a drifting machine hits both alike; medians.
struct MeasuredGain {
  std::vector<double> single_step_s;   ///< by place; 0 where a place cannot hold the batch alone
  double split_step_s = 0.0;
  double speedup = 0.0;                ///< fastest single / split
};
MeasuredGain measure_gain(const ProfileRequest& request, const schedule::Schedule& schedule);

/// Profile, candidates and recommendation in one; what `zygos plan` prints and what an `auto` share
/// is taken from. The chosen split is measured once more and its point added to the profile.
struct PlanResult {
  plan::Profile profile;
  plan::Recommendation recommendation;
};
PlanResult make_plan(const ProfileRequest& request);

}  // namespace zygos::train
