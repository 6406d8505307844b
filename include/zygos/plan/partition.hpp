// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Divides a model's nodes into contiguous stages and gives each to a place: PipeDream's dynamic
// programme (Narayanan et al., SOSP 2019, section 3.1), with transfers and memory counted and
// places that need not be equal.
#pragma once

#include "zygos/plan/problem.hpp"
#include "zygos/plan/profile.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace zygos::plan {

/// What is to be least.
enum class PartitionGoal : std::uint8_t {
  slowest_stage,  ///< a pipeline's pace: all stages work at once, transfers beside the work
  sum_of_stages,  ///< one micro-batch, one stage at a time: everything counts
};

/// A range of nodes on a place, seen from the divider.
struct StageChoice {
  schedule::NodeRange nodes;
  schedule::Place place = 0;
  std::int32_t replicas = 1;       ///< places that share the stage
  std::int32_t places_behind = 0;  ///< of later stages
};

/// What a place has to hold at once under a policy.
struct InFlight {
  std::int64_t micro_batches = 1;  ///< whose activations it keeps
  std::int64_t versions = 1;       ///< of the weights
};

struct PartitionRequest {
  PartitionGoal goal = PartitionGoal::slowest_stage;
  std::int64_t samples = 0;        ///< of a micro-batch; 0: the problem's batch
  std::int64_t micro_batches = 1;  ///< of a step, over which an update's time is spread
  bool use_all_places = true;      ///< false: places may be left out
  std::int32_t max_replicas = 1;   ///< of a stage; more: neighbours in the order of places share it
  /// Copies of the parameters beside the weights' versions: gradient, optimizer state.
  std::int64_t parameter_copies = 2;
  /// Empty: one micro-batch and one version. GPipe keeps all micro-batches, 1F1B as many as there
  /// are stages from this one on, PipeDream as many of both (for_one_f_one_b() and so on).
  std::function<InFlight(const StageChoice&)> in_flight;
};

/// In-flight rules of policies. PipeDream's warm-ups of a stage: places behind it by its replicas,
/// rounded up; one more micro-batch is at work. Where earlier versions rest in a file, two of them
/// are in memory at most.
std::function<InFlight(const StageChoice&)> for_gpipe(std::int64_t micro_batches);
std::function<InFlight(const StageChoice&)> for_one_f_one_b(std::int64_t micro_batches);
std::function<InFlight(const StageChoice&)> for_pipedream(
    std::int64_t micro_batches, schedule::Tier stash = schedule::Tier::lane);

/// One stage as predicted. Times are of one micro-batch; without a profile they are FLOPs (or
/// parameters, where no node says its FLOPs) and transfers are free.
struct StagePlan {
  schedule::NodeRange nodes;
  std::vector<schedule::Place> places;  ///< more than one: replicas
  double compute_s = 0.0;   ///< forward, backward, its part of an update, its replicas' all-reduce
  double outgoing_s = 0.0;  ///< activations to later stages, their gradients to earlier ones
  double incoming_s = 0.0;
  std::size_t bytes = 0;  ///< weights, copies, activations in flight
};

struct Partition {
  std::vector<StagePlan> stages;
  double cost_s = 0.0;  ///< the slowest stage, or the sum
  std::vector<schedule::NodeRange> ranges() const;
};

/// Best division over all orders of the places (of at most six; more are taken in their order).
/// A tensor that several later stages read is counted once where it leaves. Throws MemoryError if
/// no division fits the budgets, UsageError if there are more places to use than nodes.
Partition partition(const Problem& problem, const Profile* profile,
                    const PartitionRequest& request);

/// What stage and place cost; partition() minimises over these.
StagePlan stage_plan(const Problem& problem, const Profile* profile,
                     const PartitionRequest& request, const StageChoice& choice,
                     std::vector<schedule::Place> places);

}  // namespace zygos::plan
