// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/comm/communicator.hpp"
#include "zygos/graph/graph.hpp"
#include "zygos/io/checkpoint_store.hpp"
#include "zygos/lane/lane_set.hpp"
#include "zygos/nn/optimizer.hpp"
#include "zygos/nn/rate_schedule.hpp"
#include "zygos/plan/memory_plan.hpp"
#include "zygos/schedule/schedule.hpp"
#include "zygos/train/batch.hpp"
#include "zygos/train/trace.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace zygos::train {

struct EngineOptions {
  /// Of activations and their gradients. With bf16 the weights, their gradients and all that an
  /// optimizer keeps are f32, as are targets that are numbers.
  DType dtype = DType::f32;
  /// Products of f32 may round their operands to TF32 where a device's library has it (cuBLAS);
  /// hosts, emulated lanes and other types compute as without it.
  bool tf32 = false;
  /// Where a lane can (lane::Lane::records()), runs of tasks of its training steps are recorded in
  /// the second step of as many samples, which allocates, and launched as one from then on: on CUDA
  /// devices as graphs. Changes no bit. The numbers in which steps differ are copied to the lane in
  /// each step. Not where lanes are of several processes.
  bool record_steps = false;
  std::uint64_t seed = 1;
  /// Of each place; 0 switches recording off.
  std::size_t trace_capacity = std::size_t{1} << 14;
  /// Measure every task, which on a device without events (lane::StreamClock) means waiting for
  /// each; otherwise only where another place depends on it and at the end of the step.
  bool time_every_task = true;
  /// Also record for how long a task's thread had a core, which takes a system call or two.
  bool time_cores = false;
  /// Of the processes that share the run; null: this one has all lanes. Engines of all ranks are
  /// made with the same arguments, and called in the same order.
  comm::Communicator* communicator = nullptr;
  std::vector<int> owners{};         ///< rank of every lane, where there is a communicator
  nn::RateSchedulePtr rates{};       ///< null: the learning rate stays
  std::int64_t steps_per_epoch = 0;  ///< read by schedules that count epochs
  /// That lanes and the threads that move their messages share, see lane::LaneSet::one_driver; 0:
  /// those of this process.
  int cores = 0;
  /// Where files of the file tier are made (io::SpillFile); empty: the system's folder for
  /// temporary files. A lane that spills nothing has none.
  std::filesystem::path spill_folder{};
  /// For host memory in front of all lanes, beside their own; 0: none.
  std::size_t host_budget_bytes = 0;
  /// Host memory that all lanes of this process may take together, their own if it is the host's
  /// and what is in front of the others; 0: no limit but that of each block.
  std::uint64_t host_memory_bytes = 0;
  /// How memory is laid out; empty: plan::plan_memory.
  std::function<std::vector<plan::PlaceMemory>(const plan::MemoryRequest&,
                                               const schedule::Schedule&)>
      plan_memory{};
};

int cores_of(const EngineOptions& options);

struct StepReport {
  std::int64_t samples = 0;
  double loss = 0.0;           ///< mean over the batch
  std::int64_t hits = 0;       ///< see nn::Score
  std::int64_t best_hits = 0;  ///< if every valid label is a hit; 0: there is no score
  double seconds = 0.0;        ///< wall time of the step
  bool redone = false;         ///< the norm has undone updates that were speculated
  // With EngineOptions::record_steps:
  std::int64_t launches = 0;        ///< of recorded work
  std::int64_t recorded_tasks = 0;  ///< that were launched so
};

/// Memory of one lane as reported, by category: what was allocated, as the plan has it, and what
/// tasks have used of it.
struct LaneUsage {
  std::string lane;  ///< name, with "/staging" for a lane's host staging, "/file" for its file
  memory::Usage usage;
  std::size_t bytes = 0;  ///< of the block
  /// Measured: bytes that tasks have read or written, by their addresses, in any call so far. None
  /// before the first call. A buffer that was planned and is not used is missing here.
  memory::Usage used{};
};

/// Executes a schedule step by step on the lanes. All memory is allocated by the constructor. A
/// schedule without a backward pass (Schedule::for_evaluation()) takes no memory for training:
/// evaluate() is all that such an engine does, and step() and gradient() throw UsageError.
///
/// Every queue of a place has a thread of its own, or one thread works through all but the file's:
/// see lane::LaneSet::one_driver. Steps are separated by a barrier, so buffers of
/// consecutive steps never overlap; batches that are loaded a step ahead (schedule::loads_ahead())
/// have two slots. A task that throws stops every place at its next task; the
/// caller gets a LaneError that names lane and task, and the engine refuses further steps until
/// restore() or initialise() made its state whole.
///
/// Lanes may belong to several processes: then every call below is collective, and what it returns
/// (reports, snapshots, hashes, whole gradients and weights) is the same on every rank. A rank that
/// fails makes the others throw a PeerError.
class Engine {
 public:
  /// Throws UsageError, MemoryError (budget) or IoError (space for spilled data) before anything
  /// runs. `graph`, `optimizer` and
  /// `lanes` must outlive the engine.
  Engine(const graph::Graph& graph, const nn::Optimizer& optimizer, lane::LaneSet& lanes,
         schedule::Schedule schedule, const plan::TargetSpec& target, EngineOptions options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// On every active place: weights as given, by their parameters' names ("fc1/kernel") and from
  /// any floating-point type, all others from the seed; optimizer states zero. Throws UsageError
  /// for a weight that does not fit the model, NumericError for one that is not finite.
  void initialise(std::span<const io::TensorRef> weights = {});
  /// One training step on up to schedule().batch samples; `step` counts from 1. A smaller batch
  /// takes the first samples of every range. Throws NumericError if the loss is not finite,
  /// naming the first layer whose output is not, or if a gradient is not, naming the last layer
  /// whose is not; UsageError for 0 or too many samples. `next`: the batch of the following step,
  /// if it is known. Where batches are loaded a step ahead (schedule::loads_ahead()), it is brought
  /// to the lanes meanwhile, and its samples must stay as they are until that step has ended. A
  /// step whose batch was not announced so loads it first.
  StepReport step(const Batch& batch, std::uint64_t step, const Batch* next = nullptr);
  /// What updates of this step take, without an optimizer's own corrections.
  double learning_rate(std::uint64_t step) const;
  /// Of EngineOptions::rates; none: the learning rate does not go by evaluations.
  std::optional<nn::Plateau> plateau() const;
  /// How many plateaus there have been, for the steps that follow; the same on all ranks. No part
  /// of a snapshot.
  void set_rate_reductions(std::int64_t count);
  /// Forward and loss only, in evaluation mode. `predictions` gets the model's output for all
  /// samples, (samples, outputs) row major; empty: it is not wanted. Throws UsageError for another
  /// size, and where lanes are of several processes, none of which has all of it.
  StepReport evaluate(const Batch& batch, std::span<double> predictions = {});

  /// Weights and optimizer states as named tensors ("weights/fc1/kernel"), copied from the first
  /// active place into host memory that stays valid until the next call. Throws NumericError if a
  /// weight is not finite.
  std::vector<io::TensorRef> snapshot();
  /// The tensors of a snapshot, bit for bit, read piece by piece from wherever they are, without
  /// host memory for all of them. What it reads is of the moment: call it between steps. The engine
  /// must outlive it. Reading throws NumericError if a weight is not finite, and IoError if spilled
  /// states are not what was written. Throws UsageError where lanes are of several processes.
  std::unique_ptr<io::TensorSource> state_source();
  /// Puts a snapshot back on every active place. Throws CheckpointError for a missing tensor or
  /// another shape or dtype.
  void restore(const io::Checkpoint& checkpoint);
  /// XXH64 over all weights in the order of parameters, as 16 hex digits.
  std::string weights_hash();
  /// The gradient of the last step (reduced over places), as doubles in the order of the flat
  /// parameter buffer, each stage's from the first place that holds it. For tests and embedding
  /// programs.
  std::vector<double> gradient();
  std::vector<double> weights();
  /// The same as one place has it, zeros where its stage has no parameters. This and the next two
  /// throw UsageError for a place that takes no part in the schedule.
  std::vector<double> gradient(std::size_t place);
  std::vector<double> weights(std::size_t place);
  /// The prediction of the last call for the samples of `place`, as doubles, row major; empty
  /// unless it holds the last stage.
  std::vector<double> prediction(std::size_t place);

  /// Elementwise maximum over the ranks: how they agree on whether to stop or to save.
  void agree(std::span<std::int64_t> values) const;

  const schedule::Schedule& schedule() const noexcept;
  /// Elements of the model's output for a sample.
  std::int64_t outputs() const noexcept;
  /// True if one thread works through all queues of a place.
  bool one_driver(std::size_t place) const;
  /// How long threads that compute spin between two tasks, see lane::LaneSet::spin_timeout.
  std::chrono::microseconds spin_timeout() const;
  /// Of all active places, of other ranks included.
  std::vector<LaneUsage> memory() const;
  /// Of this rank's lanes.
  Trace& trace() noexcept;
  /// Where lanes belong to several ranks, makes every rank's trace that of all lanes, on the clock
  /// of rank 0, as exactly as ranks leave a barrier together.
  void gather_trace();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace zygos::train
