// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/lane/lane_set.hpp"
#include "zygos/plan/problem.hpp"
#include "zygos/plan/profile.hpp"
#include "zygos/train/engine.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace zygos::measure {

/// What the profiler needs of a run.
struct ProfileRequest {
  const graph::Graph& graph;
  const nn::Optimizer& optimizer;
  lane::LaneSet& lanes;
  plan::TargetSpec target;
  train::EngineOptions options;
  train::Batch batch;              ///< representative samples, a full batch
  double seconds_per_point = 0.1;  ///< measuring time of one engine at one split
  LogSink log;             ///< progress: what is measured (info), what is being measured (debug)
  std::int64_t chunk = 0;  ///< strict mode: see plan::Problem::chunk
  std::int64_t accumulate = 0;   ///< of lanes alone, in comparisons: see plan::Problem
  std::int32_t batch_slots = 1;  ///< of lanes alone, in comparisons: see plan::Problem
  /// Full batches as training takes them, each valid until the next but one call: samples of a step
  /// lie where no cache has them yet. Empty: `batch` in every step.
  std::function<train::Batch()> next{};
  /// What becomes of activations: see plan::Problem. Lanes that can't keep all of them are measured
  /// with it.
  std::vector<schedule::KeptNodes> activations{};
  std::int32_t prefetch = 1;
  /// Of messages: see plan::Problem.
  schedule::LinkCodecs codecs{};
  /// Of the disk that files of a lane lie on, whose tasks are not measured; 0: assumed.
  double disk_bytes_per_second = 0.0;
};

/// Runs the real tasks through the real engine: every place alone, layer by layer, at several
/// numbers of samples; with several places also all of them at once, and what goes between them. A
/// place whose budget can't hold the batch has no `alone` costs.
plan::Profile measure_profile(const ProfileRequest& request);

/// Seconds of a step on each single place and under a schedule, measured in turn (a, b, a, b, ...),
/// so that a drifting machine hits all alike; medians.
struct MeasuredGain {
  std::vector<double> single_step_s;  ///< by place; 0 where the place can't hold the batch alone
  double step_s = 0.0;
  double speedup = 0.0;  ///< fastest single / this; 0 if there is no single
  double idle = 0.0;     ///< share of the active places' time in which they computed nothing
};
MeasuredGain measure_gain(const ProfileRequest& request, const schedule::Schedule& schedule);

}  // namespace zygos::measure
