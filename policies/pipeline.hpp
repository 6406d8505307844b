// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What pipelines share. A pipeline policy writes down what each place does and in which order, as a
// list of moves; add_programs() weaves the lists into one schedule, with the transfers between
// stages.
#pragma once

#include "buckets.hpp"
#include "policy_files.hpp"

#include "zygos/plan/partition.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zygos::policies {

/// Stages of a pipeline and the places that hold them, one or more replicas each.
struct PipelineLayout {
  std::vector<schedule::NodeRange> stages;
  std::vector<std::vector<schedule::Place>> places;  ///< by stage

  std::int64_t micro_batches_in_turn = 1;  ///< that a replica takes before the next one does
  /// By stage, of gradients that its replicas exchange round a ring; empty: they exchange them
  /// whole.
  std::vector<Bucket> buckets{};

  std::size_t depth() const { return stages.size(); }
  /// Replicas of a stage take micro-batches in turn.
  schedule::Place place_of(schedule::Stage stage, schedule::MicroBatch micro_batch) const;
};

/// Stages on the lanes that `options` names, one after the other; `replicas` says how many lanes
/// each stage has, one unless told. UsageError for what does not fit. Where the options leave cuts
/// and lanes open and all lanes were measured, stages and their lanes are what plan::partition()
/// makes of `request`; MemoryError if it finds no division within the lanes' budgets.
PipelineLayout layout_for(const std::string& policy, const plan::Problem& problem,
                          const plan::Profile* profile, const StageOptions& options,
                          plan::PartitionRequest request = {},
                          const std::vector<std::int64_t>& replicas = {});

/// The option `cuts` that gives the stages of this schedule.
std::pair<std::string, std::string> cuts_of(const plan::Problem& problem,
                                            const schedule::Schedule& made);

/// The options `cuts` and `lanes` that give the stages of this schedule, where `options` leave the
/// cuts open. Of the lanes `among`, if there are any.
train::PolicyOptions stage_decisions(const plan::Problem& problem, const schedule::Schedule& made,
                                     const StageOptions& options,
                                     const std::vector<schedule::Place>& among = {});

/// The option `micro_batches` for a planner to try: powers of two from `least` to 16, as far as the
/// batch can be divided.
std::vector<train::PolicyOptions> micro_batches_to_try(const plan::Problem& problem,
                                                       std::int64_t least);

/// Outline of a pipeline; updates: all samples at once unless given.
schedule::Outline pipeline_outline(const std::string& policy, const plan::Problem& problem,
                                   const PipelineLayout& layout,
                                   std::vector<schedule::SampleRange> micro_batches,
                                   std::vector<schedule::SampleRange> updates = {},
                                   Accumulation accumulation = Accumulation::none);

/// Of synchronous pipelines where neither the problem nor the policy's options say how many.
inline constexpr std::int64_t micro_batches_of_a_pipeline = 8;

/// One thing a place does.
struct Move {
  enum class Kind { forward, backward, exchange, update };
  Kind kind = Kind::forward;
  schedule::MicroBatch micro_batch = 0;  ///< forward, backward
  bool keeps = true;                     ///< forward; if false, backward begins with a recompute
  std::optional<schedule::Version> version;  ///< forward; the current one if none is given
  bool stash = false;                        ///< update: keeps the version before it
  std::int32_t average_every = 0;  ///< update: makes a mean of all versions every so many steps
};
using Program = std::vector<Move>;

Move forward_of(schedule::MicroBatch micro_batch, bool keeps = true);
Move backward_of(schedule::MicroBatch micro_batch);
/// Replicas of the stage sum their gradients, each for itself: each has the sum for its update.
Move exchange_now();
Move update_now();

/// One forward, one backward: `warm_ups` forwards ahead, then a forward and the backward of the
/// oldest micro-batch in turn, then the backwards that are left. An update follows every
/// `per_update` backwards.
Program alternating(const std::vector<schedule::MicroBatch>& own, std::size_t warm_ups,
                    std::size_t per_update, bool keeps = true);

/// Marks the updates that must stash the version they supersede: those after which a pass still
/// works with it, and those of the `last` last versions before the end. Returns the versions that
/// are kept at most at any time, the current one included.
std::int32_t mark_stashes(Program& program, std::int32_t last = 0);

/// Adds the programs, by place, to the schedule. Each turn every place whose next move can be made
/// makes it: a forward when what it reads has been made, a backward when the gradients have, an
/// exchange or update when all replicas of its stage are there. Without an exchange their gradients
/// are summed on the first, which updates and hands out its weights. So places are ordered by
/// messages alone; but those of one lane take turns in the order of the list: `turns` says whose
/// passes come when. Stages in which nothing is trained skip backward, exchange and update.
void add_programs(schedule::ScheduleBuilder& builder, const PipelineLayout& layout,
                  const std::vector<Program>& programs,
                  const std::vector<schedule::Place>& turns = {});

/// The deck's key for where stashed weights rest: one of `tiers`, the lane if not given.
void add_stash_key(deck::Schema& schema, std::vector<std::string> tiers, const std::string& doc);
schedule::Tier stash_tier(const deck::Section& section);

/// The deck's keys of StageOptions. `lanes`: whose they are if not given.
void add_stage_keys(deck::Schema& schema, const std::string& lanes = "all of the run's");
StageOptions stage_options(const deck::Section& section);

}  // namespace zygos::policies
