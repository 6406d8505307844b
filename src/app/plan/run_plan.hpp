// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The schedule of a run, decided once: what was chosen and predicted at its start goes into every
// checkpoint, so that a resumed run has the same schedule and the same bits.
#pragma once

#include "app/console.hpp"
#include "app/run/run_setup.hpp"

#include "zygos/io/checkpoint_store.hpp"
#include "zygos/plan/recommendation.hpp"
#include "zygos/schedule/schedule.hpp"

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
  double idle = 0.0;
  bool worthwhile = true;  ///< the planner would use several lanes as well
  std::string reason;
};

struct RunPlan {
  schedule::Schedule schedule;
  train::PolicyOptions decisions{};  ///< of the schedule's policy, from a profile
  std::string chosen{};  ///< why the planner chose this policy; empty: the deck names it
  std::optional<Prediction> prediction{};        ///< where several lanes work
  std::optional<plan::Simulation> simulation{};  ///< of one step; known where a profile is
};

/// Makes the schedule. Where several lanes work, or something is decided from measurements, with
/// the run's profile, which is measured if there is none yet or `fresh_profile` asks for it.
/// Where lanes are not measured (RunSetup::measures_lanes) what is open is decided by what is known
/// beforehand. Throws MemoryError, before anything is measured, if unmeasured_schedule() needs more
/// memory than this machine has.
RunPlan plan_run(RunSetup& setup, bool fresh_profile, Console& console);
/// The same without a prediction: measures only if something is decided from it.
RunPlan plan_schedule(RunSetup& setup, Console& console);
/// What the policy makes of the problem before anything is measured; where it asks for a profile,
/// of an assumed one. Throws UsageError if it can't.
schedule::Schedule unmeasured_schedule(const RunSetup& setup);
/// The same of another policy than the deck's.
schedule::Schedule unmeasured_schedule(const RunSetup& setup, const train::Policy& policy);
/// The plan that a checkpoint was written under. Throws CheckpointError if it does not fit the
/// lanes.
RunPlan recall_plan(const RunSetup& setup, const io::Checkpoint& checkpoint, Console& console);
/// The fact that is "true" where a step is one update with the gradient of the whole batch.
inline constexpr const char* synchronous_fact = "synchronous";
/// What recall_plan() needs, as facts of a checkpoint.
io::Facts facts_of(const RunPlan& plan);

/// Every lane that can hold the batch alone.
std::vector<plan::Candidate> lanes_alone(const plan::Problem& problem,
                                         const plan::Profile& profile);

}  // namespace zygos::app
