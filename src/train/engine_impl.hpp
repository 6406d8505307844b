// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/messages/message_board.hpp"
#include "train/messages/rank_messages.hpp"
#include "train/place/place_state.hpp"
#include "train/queues/task_queues.hpp"
#include "train/queues/task_signals.hpp"

#include "zygos/train/engine.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace zygos::train {

/// What a place tells of a step: the loss's totals, and 1 if a gradient was bad.
inline constexpr std::size_t totals_of_place = nn::loss_totals + 1;

struct Engine::Impl {
  Impl(const graph::Graph& graph, const nn::Optimizer& optimizer, lane::LaneSet& lanes,
       schedule::Schedule schedule, const plan::TargetSpec& target, EngineOptions options);

  void make_places();
  void make_jobs();
  void announce_messages();
  /// Whose lane a place is: a rank's, -1 where there is only this process.
  int owner_of(std::size_t place) const;
  bool is_here(std::size_t place) const { return !lanes[place].is_remote(); }
  /// False for a schedule without a backward pass.
  bool trains() const {
    return std::ranges::any_of(schedule.tasks, [](const schedule::Task& task) {
      return task.kind == schedule::TaskKind::backward;
    });
  }
  /// Throws UsageError if it does not train.
  void require_training() const;

  // engine.cpp: one round
  StepReport round(const Batch& batch, const StepInputs& inputs);
  /// Losses and hits of all places, summed in the order of places.
  void add_totals(StepReport& report);

  double rate_factor(std::uint64_t step) const;

  // engine_work.cpp: what threads do in a round
  struct Worker;
  struct Head;
  struct Choice;
  void make_workers();
  void add_worker(std::size_t place, lane::Line driver, std::span<const schedule::Queue> queues);
  /// What the worker's lines wait for is what it listens to.
  void listen(std::size_t worker, const TaskQueues& queues);
  bool one_driver(std::size_t place) const;
  /// One pass of all lanes through their tasks.
  void run_round(const StepInputs& inputs);
  void work(Worker& worker);
  void work_through(Worker& worker);
  /// What it does next, or how long there is nothing to do.
  Choice choose(Worker& worker) const;
  /// When the first task of a line can begin; nothing as long as that isn't known.
  std::optional<double> possible_from(const Head& head) const;
  void wait_for_work(const Worker& worker, const Choice& choice, std::uint32_t seen) const;
  std::chrono::microseconds spin_timeout_of(const Worker& worker) const;
  void run_next(const Worker& worker, const Choice& choice);
  /// Moves messages between ranks until all are through or something has failed.
  void move_messages();
  void stop_waiting();
  const TaskQueue& queue_of(std::size_t line) const;
  const schedule::Task& task_of(const QueuedTask& queued) const {
    return schedule.tasks[static_cast<std::size_t>(queued.id)];
  }
  double now() const;

  // engine_memory.cpp: what is allocated, and what of it is used
  void add_usage(std::size_t place, const plan::PlaceMemory& memory);
  /// The first calls of training and of evaluation, and later ones of more samples: all others use
  /// the same memory once more.
  bool is_to_measure(const StepInputs& round_inputs);
  /// Collective.
  void measure_memory();

  // engine_check.cpp: what can be wrong before and after a round
  void check_batch(const Batch& batch) const;
  void rethrow_failure();
  bool has_bad_gradient() const;
  // Collective: the same text on every rank.
  /// Of the round that has ended.
  [[noreturn]] void fail_numerically(double loss);
  std::string first_bad_output();
  std::string first_bad_gradient();
  /// `found` of a place is its first node, or -1: the first of all, in the order of nodes if
  /// `onward` and else against it. "'fc1' on lane 'host'", or nothing.
  template <class Found>
  std::string first_of_all(bool onward, Found&& found);
  std::int32_t last_bad_gradient(std::size_t place);

  // gather_trace.cpp
  /// Seconds that this rank's clock is ahead of rank 0's.
  double ahead_of_first();

  // engine_state.cpp
  /// A state without bytes is zero.
  void write_state(const std::vector<std::byte>& flat_weights,
                   const std::vector<std::vector<std::byte>>& flat_states);
  std::vector<std::byte> to_host(std::size_t place, const Tensor& tensor);
  std::vector<double> to_doubles(std::size_t place, const Tensor& tensor);
  /// Weights, then the optimizer's states, as flat buffers of the whole model in host memory.
  std::vector<Tensor> gather_state();
  /// Elements of the flat parameters that a place has.
  struct Held {
    std::size_t place = 0;
    schedule::ElementRange elements;
  };
  /// Who of all places speaks for which elements of the model.
  void find_holders(const std::vector<plan::PlaceMemory>& memory);
  /// Whole gradients: where they are updated; without updates, with the weights.
  const std::vector<Held>& gradient_holders() const {
    return state_holders.empty() ? weight_holders : state_holders;
  }
  /// Puts elements of a place at their position in the model's flat buffer.
  void add_doubles(const Held& held, schedule::BufferKind kind, std::vector<double>& flat);
  std::vector<double> all_doubles(const std::vector<Held>& holders, bool gradients);
  std::vector<double> doubles_of(std::size_t place, bool gradients);
  std::vector<double> flat_zeros() const;
  /// Flat parameters (bytes or doubles) of the model that runs, as those of the whole one, and
  /// back.
  template <class T>
  std::vector<T> to_whole(std::vector<T> flat) const;
  std::vector<std::byte> from_whole(std::vector<std::byte> flat) const;
  /// Elements of a flat buffer (of bytes or doubles) go from their place's rank to all others.
  template <class T>
  void share(const Held& held, std::vector<T>& flat);
  /// Throws UsageError for a place that takes no part.
  const PlaceState& state_of(std::size_t place) const;
  std::size_t flat_bytes() const;
  std::size_t whole_bytes() const;  ///< the same of the whole model
  /// Type of weights, gradients and optimizer states.
  DType parameters() const { return wide(options.dtype); }

  /// The first task of a line that has not run.
  struct Head {
    std::size_t line = 0;
    std::size_t next = 0;
    double free_s = 0.0;  ///< end of the one before
  };
  /// What one driver thread works through: a line, or the lines of a lane with one thread for all.
  struct Worker {
    std::size_t number = 0;
    std::size_t place = 0;
    lane::Line driver = lane::Line::compute;
    std::vector<Head> heads;  ///< in the order in which it looks for something to do
    std::size_t line = 0;     ///< of the task that it is at
    std::function<void()> job{};
  };
  struct Choice {
    Head* head = nullptr;                                        ///< null: there is nothing to do
    double begin_s = 0.0;                                        ///< since when there was
    double soonest_s = std::numeric_limits<double>::infinity();  ///< from when there will be
  };

  const graph::Graph& whole_model;  ///< the caller's, by which state is named outside
  const nn::Optimizer& optimizer;
  lane::LaneSet& lanes;
  schedule::Schedule schedule;
  std::optional<graph::Graph> shards;  ///< if the schedule has slices
  const graph::Graph& graph;           ///< what runs: the shards, or the whole
  EngineOptions options;
  bool own_cores = false;                    ///< see lane::LaneSet::cores_of_their_own
  std::chrono::microseconds spin_timeout{};  ///< see lane::LaneSet::spin_timeout
  plan::TargetSpec target;

  std::vector<std::size_t> active;                  ///< places of this process that take part
  std::vector<std::unique_ptr<PlaceState>> states;  ///< by place; null if idle or not here
  std::vector<LaneUsage> usage;                     ///< of all places, of other ranks included
  /// Samples of the largest call that was measured: evaluating, training.
  std::array<std::int64_t, 2> measured_samples{-1, -1};
  MessageBoard board;
  std::unique_ptr<RankMessages> rank_messages;  ///< null if this process has all lanes
  TaskQueues training;                          ///< by line
  TaskQueues evaluation;                        ///< by line
  std::vector<Worker> workers;
  TaskSignals signals;
  Trace trace;
  std::chrono::steady_clock::time_point origin = std::chrono::steady_clock::now();

  struct Failure {
    std::exception_ptr cause;
    schedule::TaskId task = 0;
  };
  StepInputs inputs;
  std::uint32_t round_number = 0;
  std::atomic<bool> abort{false};
  std::atomic<bool> handed_out{false};  ///< the round, to all workers
  std::vector<Failure> failures;        ///< by line
  std::exception_ptr peer_failure;
  std::vector<double> totals;  ///< by place, totals_of_place each
  bool whole = false;          ///< weights and states are defined and consistent

  std::vector<Held> state_holders;   ///< the first place that updates the elements
  std::vector<Held> weight_holders;  ///< the same, or the first place that has them
  std::vector<std::vector<std::byte>> snapshot_memory;
};

}  // namespace zygos::train
