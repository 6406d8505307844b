// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/place_runner.hpp"
#include "train/task_signals.hpp"

#include "zygos/train/engine.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

namespace zygos::train {

/// A task as its place works through it.
struct QueuedTask {
  schedule::TaskId id = 0;
  std::vector<std::size_t> wait_for;  ///< predecessors on other places
  bool signals = false;               ///< someone on another place waits for it
  bool evaluates = false;             ///< part of an evaluation, too
};

struct Engine::Impl {
  Impl(const graph::Graph& graph, const nn::Optimizer& optimizer, lane::LaneSet& lanes,
       schedule::Schedule schedule, const plan::TargetSpec& target, EngineOptions options);

  // engine.cpp: one round
  StepReport round(const Batch& batch, const StepInputs& inputs);
  void work(std::size_t place);
  void work_through(std::size_t place);
  void run_task(std::size_t place, const QueuedTask& task);
  double now() const;

  // engine_check.cpp: what can be wrong before and after a round
  void check_batch(const Batch& batch) const;
  void rethrow_failure();
  [[noreturn]] void fail_numerically(std::uint64_t step, double loss);
  std::string first_nonfinite();

  // engine_state.cpp
  void write_state(const std::vector<std::byte>& flat_weights,
                   const std::vector<std::vector<std::byte>>& flat_states);
  std::vector<std::byte> to_host(std::size_t place, const Tensor& tensor);
  std::vector<double> to_doubles(std::size_t place, const Tensor& tensor);
  std::size_t state_place() const { return active.front(); }
  /// Throws UsageError for a place that takes no part.
  const PlaceRunner& runner_of(std::size_t place) const;
  std::size_t flat_bytes() const;

  const graph::Graph& graph;
  const nn::Optimizer& optimizer;
  lane::LaneSet& lanes;
  schedule::Schedule schedule;
  EngineOptions options;
  plan::TargetSpec target;

  std::vector<std::size_t> active;                    ///< places that take part
  std::vector<std::unique_ptr<PlaceRunner>> runners;  ///< by place; null if idle
  std::vector<PlaceRunner*> peers;                    ///< the same, as tasks see them
  std::vector<std::vector<QueuedTask>> queues;        ///< by place
  std::vector<std::function<void()>> jobs;            ///< by place
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
  std::vector<Failure> failures;  ///< by place
  bool whole = false;             ///< weights and states are defined and consistent
  bool reduces = false;           ///< the schedule has an all-reduce

  std::vector<std::vector<std::byte>> snapshot_memory;
};

}  // namespace zygos::train
