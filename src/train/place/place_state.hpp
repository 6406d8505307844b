// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// All that one place has: the tasks of src/train/tasks work on it.
#pragma once

#include "train/place/place_buffers.hpp"
#include "train/place/place_use.hpp"
#include "train/place/stage_binding.hpp"
#include "train/place/step_scalars.hpp"
#include "train/place/task_operands.hpp"
#include "train/tasks/norm.hpp"
#include "train/tasks/spill.hpp"
#include "train/tasks/statistics.hpp"
#include "train/tasks/transfer.hpp"
#include "train/tasks/update.hpp"

#include "zygos/graph/graph.hpp"
#include "zygos/lane/lane.hpp"
#include "zygos/nn/optimizer.hpp"
#include "zygos/plan/memory_plan.hpp"
#include "zygos/schedule/schedule.hpp"
#include "zygos/schedule/tasks_by_place.hpp"
#include "zygos/train/batch.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace zygos::train {

/// What one call of step() or evaluate() is about; the same for every place.
struct StepInputs {
  const Batch* batch = nullptr;
  const Batch* next = nullptr;  ///< of the following step; null: not known
  std::uint64_t step = 0;
  nn::Mode mode = nn::Mode::train;
  double rate_factor = 1.0;
  bool measures = false;  ///< tasks note the memory that they use
  bool examines = false;  ///< forward of a training step once more, to look at every output
  bool fills = false;     ///< only brings the batch where batches are loaded a step ahead
  /// Of an evaluation: where the batch's predictions go, row major; empty: nobody wants them.
  std::span<double> predictions{};

  bool trains() const { return mode == nn::Mode::train && !examines && !fills; }
};

/// The model as one place needs it; everything that a place does not own.
struct PlaceSetup {
  const graph::Graph& graph;
  const nn::Optimizer& optimizer;
  const schedule::TasksByPlace& tasks;
  lane::Lane& lane;
  schedule::Place place = 0;
  plan::TargetSpec target;
  DType dtype = DType::f32;  ///< of activations
  std::uint64_t seed = 1;
  std::filesystem::path spill_folder{};  ///< empty: the system's
  bool tf32 = false;                     ///< see EngineOptions::tf32
  bool records = false;                  ///< its steps are recorded on the lane

  const schedule::Schedule& schedule() const { return tasks.schedule(); }
  /// Type of weights, gradients and optimizer states.
  DType parameters() const { return wide(dtype); }
};

/// The tensors of a batch on one place, and how many of its samples they are bound for.
struct BatchTensors {
  std::vector<MicroBatchTensors> micro_batches;  ///< empty for those of other places
  std::int64_t given = -1;
};

/// Memory and tensors of one place. Everything is bound once, so tasks allocate nothing; they run
/// on the driver threads of the lane, all else belongs to the caller of the engine.
struct PlaceState {
  /// By node of the stage: its tensors of one kind.
  using NodeTensors = std::vector<std::vector<Tensor>>;

  PlaceState(const PlaceSetup& setup, plan::PlaceMemory memory);
  PlaceState(const PlaceState&) = delete;
  PlaceState& operator=(const PlaceState&) = delete;

  const plan::PlaceMemory& plan() const noexcept { return buffers.plan(); }
  const lane::Lane& lane() const noexcept { return setup.lane; }
  /// Ascending.
  std::span<const schedule::TaskId> own_tasks() const { return setup.tasks.of(setup.place); }
  const schedule::Task& task(schedule::TaskId id) const {
    return setup.schedule().tasks[static_cast<std::size_t>(id)];
  }
  const TaskOperands& operands_of(schedule::TaskId id) const {
    return operands[setup.tasks.index_of(id)];
  }
  /// The batch that the call is about.
  const BatchTensors& current() const { return batches[batch_slot]; }
  /// Of the following step's batch, where batches are loaded a step ahead; else of this one's.
  std::size_t next_slot() const { return batches.size() - 1 - batch_slot; }
  bool brings_next(const schedule::Task& task) const {
    return !inputs.fills && is_for_next_step(setup.schedule(), task);
  }
  /// Slot of the batch that a task works on.
  std::size_t batch_slot_of(const schedule::Task& task) const {
    return brings_next(task) ? next_slot() : batch_slot;
  }
  const MicroBatchTensors& tensors_of(const schedule::Task& task) const {
    return batches[batch_slot_of(task)].micro_batches[static_cast<std::size_t>(task.micro_batch)];
  }
  /// Samples of this call that a message brings, counted from the first of its micro-batch.
  schedule::SampleRange carried(const schedule::Task& task) const;
  /// In the step of this call.
  schedule::Codec codec_of(const schedule::Task& task) const {
    return codec_in(setup.schedule(), task, inputs.step);
  }
  /// Where the stage's lists have a node.
  std::size_t index_of(graph::NodeId node) const {
    return static_cast<std::size_t>(node - plan().stage.nodes.begin);
  }
  const nn::Layer& layer(graph::NodeId node) const {
    return *setup.graph.nodes()[static_cast<std::size_t>(node)].layer;
  }
  bool is_frozen(graph::NodeId node) const {
    return setup.graph.nodes()[static_cast<std::size_t>(node)].frozen;
  }
  /// Version of the weights that a pass uses.
  std::int32_t slot_of(const schedule::Task& task) const { return inputs.trains() ? task.slot : 0; }
  const NodeTensors& parameters_of(const schedule::Task& task) const {
    return parameters[static_cast<std::size_t>(slot_of(task))];
  }
  nn::Context context(graph::NodeId id, const Tensor& ids) const;
  /// Samples of this call that an update averages over.
  std::int64_t averaged_samples(std::int32_t update) const;

  PlaceSetup setup;
  PlaceBuffers buffers;
  PlaceUse use;                           ///< memory that tasks have used so far
  std::vector<TaskOperands> operands;     ///< by task; of other places' tasks: none
  std::vector<BatchTensors> batches;      ///< by slot of inputs: one, or two to load ahead
  std::size_t batch_slot = 0;             ///< of the call's batch
  std::vector<bool> mine;                 ///< by micro-batch: this place loads it
  std::vector<NodeTensors> parameters;    ///< by slot
  std::vector<NodeTensors> d_parameters;  ///< by slot
  NodeTensors gradient_gaps;  ///< of gradients that live within a step: see zero_gradients()
  NodeTensors constants;
  std::vector<Tensor> loss_constants;
  StepScalars scalars;
  Updates updates;
  Norm norm;
  Gathers gathers;
  Transfers transfers;
  Spills spills;

  StepInputs inputs;  ///< of the call
  /// What the compute line's tasks take by value: `inputs`, but in a launch of recorded work those
  /// of the step in which it was recorded.
  StepInputs computed;
  graph::NodeId first_bad = -1;  ///< first node whose output was not finite when it was examined
};

/// Adapts all tensors to the samples of this call; cheap when their number is the same as before.
void begin_call(PlaceState& state, const StepInputs& inputs);
/// Between calls: the batch that was brought for the following step becomes that of the call.
void turn_to_next(PlaceState& state);

/// Fills the constants of layers and the loss; part of putting state on a place.
void write_constants(const PlaceState& state);
/// No layer writes the gaps between parameters, and they must never hold anything but zeros: where
/// gradients live within a step and others have their memory before, backward zeroes the gaps.
void zero_gradients(const PlaceState& state);

/// Kind of the gradients of the last step: reduced ones if the schedule reduces.
schedule::BufferKind gradient_kind(const PlaceState& state);
/// The model's output for the samples of the last call, micro-batch by micro-batch.
std::vector<Tensor> predictions(const PlaceState& state);

}  // namespace zygos::train
