// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/lane/lane_set.hpp"
#include "zygos/plan/problem.hpp"
#include "zygos/plan/recommendation.hpp"
#include "zygos/train/engine.hpp"

#include <cstdint>
#include <vector>

namespace zygos::train {

/// What the profiler needs of a run.
struct ProfileRequest {
  const graph::Graph& graph;
  const nn::Optimizer& optimizer;
  lane::LaneSet& lanes;
  plan::TargetSpec target;
  EngineOptions options;
  Batch batch;                     ///< representative samples, a full batch
  plan::SplitSchedule schedule;    ///< n samples on place 0, the rest on place 1; with one lane the
                                   ///< number is ignored; measure_profile() does without
  double seconds_per_point = 0.1;  ///< measuring time of one engine at one split
  LogSink log;                     ///< progress, a line per point
};

/// What a policy may know of a model on these lanes.
plan::Problem problem_of(const graph::Graph& graph, const lane::LaneSet& lanes, DType dtype,
                         const plan::TargetSpec& target, std::int64_t batch);

/// Runs the real tasks through the real engine: every place alone, layer by layer, at several
/// numbers of samples; with several places also all of them at once, and what goes between them. A
/// place whose budget can't hold the batch has no `alone` costs.
plan::Profile measure_profile(const ProfileRequest& request);

/// Seconds of a step on each single place and of a split, measured in turn (a, b, a, b, ...), so
/// that a drifting machine hits all alike; medians.
struct MeasuredGain {
  std::vector<double> single_step_s;  ///< by place; 0 where the place can't hold the batch alone
  double split_step_s = 0.0;
  double speedup = 0.0;  ///< fastest single / split; 0 if there is no single
};
MeasuredGain measure_gain(const ProfileRequest& request, const schedule::Schedule& split);

/// Profile, candidates and recommendation in one: what `zygos plan` prints and where an `auto`
/// share comes from. The best split is measured itself and joins the profile.
struct PlanResult {
  plan::Profile profile;
  plan::Recommendation recommendation;
};
PlanResult make_plan(const ProfileRequest& request);

}  // namespace zygos::train
