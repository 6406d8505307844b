// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Which lane takes how many samples, decided once per run: what was chosen and predicted at its
// start goes into every checkpoint, so that a resumed run has the same split and the same bits.
#pragma once

#include "app/run_setup.hpp"

#include "zygos/io/checkpoint_store.hpp"
#include "zygos/schedule/schedule.hpp"
#include "zygos/train/profiler.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zygos::app {

/// What the planner said of the schedule in force.
struct Prediction {
  double step_s = 0.0;
  double speedup = 1.0;               ///< against the fastest single lane
  std::vector<double> single_step_s;  ///< by place; 0 where the lane can't hold the batch alone
  double upper_bound = 1.0;
  bool worthwhile = true;  ///< the planner would split as well
  std::string reason;
};

struct SplitPlan {
  schedule::Schedule schedule;
  std::optional<Prediction> prediction;        ///< for a split only
  std::optional<plan::Simulation> simulation;  ///< of one step; known in the process that planned
};

/// Measures and predicts if the policy splits, then makes the schedule.
SplitPlan decide_split(RunSetup& setup, const LogSink& log);
/// The schedule alone; measures only if the policy can't do without.
schedule::Schedule schedule_of(RunSetup& setup);
/// The split that a checkpoint was written with. Throws CheckpointError if it does not fit the
/// lanes.
SplitPlan recall_split(const RunSetup& setup, const io::Checkpoint& checkpoint);
/// What recall_split() needs, as facts of a checkpoint.
io::Facts facts_of(const SplitPlan& split);

/// Samples per place, in lanes' order.
std::vector<std::int64_t> samples_per_place(const schedule::Schedule& schedule);
/// A request to the profiler with a batch of the training set; borrows from `setup`.
train::ProfileRequest profile_request(RunSetup& setup, const LogSink& log);

}  // namespace zygos::app
