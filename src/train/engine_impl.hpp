// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/announced_batch.hpp"
#include "train/messages/message_board.hpp"
#include "train/messages/rank_messages.hpp"
#include "train/place/memory_report.hpp"
#include "train/place/places.hpp"
#include "train/queues/worker_loop.hpp"
#include "train/state/model_state.hpp"

#include "zygos/schedule/tasks_by_place.hpp"
#include "zygos/train/engine.hpp"

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

namespace zygos::train {

/// What a place tells of a step: the loss's totals, and 1 if a gradient was bad.
inline constexpr std::size_t totals_of_place = nn::loss_totals + 2;

struct Engine::Impl {
  Impl(const graph::Graph& graph, const nn::Optimizer& optimizer, lane::LaneSet& lanes,
       schedule::Schedule schedule, const plan::TargetSpec& target, EngineOptions options);

  // Construction
  void make_places();
  /// Some lane's steps are recorded.
  bool records_steps() const;
  void announce_messages();
  void make_jobs();

  /// Throws UsageError for a schedule without a backward pass.
  void require_training() const;
  double rate_factor(std::uint64_t step) const;

  // One round: a step or an evaluation
  StepReport round(const StepInputs& inputs);
  /// Has the batch of the round on all places that load a step ahead: the step before has brought
  /// it, or it is brought now.
  void have_batch(const StepInputs& inputs);
  /// One pass of all lanes through their tasks.
  void run_round(const StepInputs& inputs);
  /// Moves messages between ranks until all are through or something has failed.
  void move_messages();
  void tell_peers_of_failure();
  void rethrow_failure();
  /// Losses and hits of all places, summed in the order of places.
  void add_totals(StepReport& report);
  bool has_bad_gradient() const;
  /// Of the round that has ended. Collective.
  [[noreturn]] void fail_numerically(double loss);

  const nn::Optimizer& optimizer;
  schedule::Schedule schedule;
  std::optional<schedule::TasksByPlace> tasks;  ///< once the schedule is known to be valid
  RunningModel model;
  EngineOptions options;
  std::int64_t rate_reductions = 0;
  plan::TargetSpec target;

  Places places;
  ModelState state;
  bool whole = false;  ///< weights and states are defined and consistent
  MemoryReport memory;
  MessageBoard board;
  std::unique_ptr<RankMessages> rank_messages;  ///< null if this process has all lanes
  Workers workers;
  Trace trace;
  WorkerLoop loop;

  StepInputs inputs;           ///< of the round
  bool loads_ahead = false;    ///< some place does
  AnnouncedBatch announced{};  ///< that those places have for the following step
  std::exception_ptr peer_failure;
  std::vector<double> totals;  ///< by place, totals_of_place each
};

}  // namespace zygos::train
