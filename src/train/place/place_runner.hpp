// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/messages/message_board.hpp"
#include "train/place/place_buffers.hpp"
#include "train/place/place_use.hpp"
#include "train/place/stage_binding.hpp"
#include "train/place/task_operands.hpp"

#include "zygos/graph/graph.hpp"
#include "zygos/lane/lane.hpp"
#include "zygos/memory/arena.hpp"
#include "zygos/nn/optimizer.hpp"
#include "zygos/plan/memory_plan.hpp"
#include "zygos/schedule/schedule.hpp"
#include "zygos/train/batch.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace zygos::train {

/// What one call of step() or evaluate() is about; the same for every place.
struct StepInputs {
  const Batch* batch = nullptr;
  std::uint64_t step = 0;
  nn::Mode mode = nn::Mode::train;
  double rate_factor = 1.0;
  bool measures = false;  ///< tasks note the memory that they use
  bool examines = false;  ///< forward of a training step once more, to look at every output

  bool trains() const { return mode == nn::Mode::train && !examines; }
};

/// The model as one place needs it; everything a runner does not own.
struct PlaceSetup {
  const graph::Graph& graph;
  const nn::Optimizer& optimizer;
  const schedule::Schedule& schedule;
  lane::Lane& lane;
  schedule::Place place = 0;
  plan::TargetSpec target;
  DType dtype = DType::f32;  ///< of activations
  std::uint64_t seed = 1;

  /// Type of weights, gradients and optimizer states.
  DType parameters() const { return wide(dtype); }
};

/// Memory and tensors of one place, and what each kind of task does there. begin() and the
/// accessors belong to the caller of the engine, tasks run on the driver threads of the lane.
class PlaceRunner {
 public:
  PlaceRunner(const PlaceSetup& setup, plan::PlaceMemory memory);

  /// Adapts all tensors to the samples of this call; cheap when their number is the same as before.
  void begin(const StepInputs& inputs);
  void run(schedule::TaskId task, const MessageBoard& board);
  /// Once all tasks of a call have ended.
  void end() { use_->end(); }
  /// Memory that tasks have used so far.
  const PlaceUse& use() const noexcept { return *use_; }

  /// Marks in the optimizer's mask which parameters decay; part of putting state on a place.
  void write_decay_mask() const;
  /// What squares are summed by; likewise.
  void write_norm_plan() const;
  /// Fills the constants of layers; likewise.
  void write_constants() const;
  /// No layer writes the gaps between parameters, and they must never hold anything but zeros.
  /// From here on no gradient was bad.
  void zero_gradients() const;

  /// Sums over this place's samples of the last call, in the order of micro-batches.
  double loss_sum() const { return sum_of_totals(0); }
  double hit_sum() const { return sum_of_totals(1); }
  double valid_sum() const { return sum_of_totals(2); }
  /// An update has met a gradient that is not finite.
  bool has_bad_gradient() const;
  /// The first of the place's nodes whose output was not finite when the step was examined; -1.
  graph::NodeId first_bad() const noexcept { return first_bad_; }
  /// All that the place holds.
  const PlaceBuffers& buffers() const noexcept { return buffers_; }
  /// Kind of the gradients of the last step: reduced ones if the schedule reduces.
  schedule::BufferKind gradient_kind() const;
  /// The model's output for the samples of the last call, micro-batch by micro-batch.
  std::vector<Tensor> predictions() const;
  lane::Lane& lane() const noexcept { return setup_.lane; }

  /// Memory of a message of this place; for one that is no copy, the buffer it stands for.
  std::byte* message_memory(schedule::TaskId sender) const;

 private:
  using Tensors = MicroBatchTensors;

  const plan::PlaceMemory& plan() const noexcept { return buffers_.plan(); }
  const TaskOperands& operands(schedule::TaskId id) const {
    return operands_[static_cast<std::size_t>(id)];
  }
  void bind_parameters();
  void bind_constants();
  void bind_updates();
  void bind_update(schedule::TaskId id);
  void add_update(schedule::TaskId id, schedule::ElementRange elements,
                  std::vector<nn::UpdateArgs>& to) const;
  void bind_samples(std::int64_t given);
  /// By stage's node: its parameters in a kind and slot of buffers.
  std::vector<std::vector<Tensor>> parameters_in(schedule::BufferKind kind,
                                                 std::int32_t slot) const;
  nn::Context context(graph::NodeId node, const Tensor& ids) const;
  const schedule::Task& task(schedule::TaskId id) const {
    return setup_.schedule.tasks[static_cast<std::size_t>(id)];
  }
  Tensors& tensors_of(const schedule::Task& task) {
    return micro_batches_[static_cast<std::size_t>(task.micro_batch)];
  }
  std::int32_t slot_of(const schedule::Task& task) const {
    return inputs_of_call_.trains() ? task.slot : 0;
  }
  /// Samples of this call that an update averages over.
  std::int64_t averaged_samples(std::int32_t update) const;

  void load(const schedule::Task& task);
  void copy_in(const schedule::Task& task);
  /// A tensor of the batch where host memory has it, in front of a lane that has its own.
  Tensor staged(const schedule::Task& task, const Tensor& tensor, plan::Role role) const;
  void forward(schedule::TaskId id);
  void examine(graph::NodeId node, const Tensor& output);
  void loss(const schedule::Task& task);
  void backward(schedule::TaskId id);
  /// Slice number `number` of the task's micro-batch.
  void backward_slice(schedule::TaskId id, std::size_t number,
                      std::span<const std::vector<Tensor>> d_parameters, bool accumulates);
  /// Strict mode: chunk by chunk, summed as the tree says.
  void backward_in_chunks(schedule::TaskId id);
  void zero_gradients_of(schedule::NodeRange nodes, std::int32_t slot) const;
  void update(schedule::TaskId id);
  void apply(schedule::TaskId id);
  void clear_bad() const;
  /// Where a host sees what bad_ says.
  std::int32_t* staged_bad() const;
  // place_norm.cpp
  void bind_norm();
  void bind_squares(schedule::TaskId id);
  void squares(schedule::TaskId id) const;
  void norm(schedule::TaskId id, const MessageBoard& board);
  /// Some of the model's sums of squares.
  Tensor squares_of(schedule::SumRange sums) const;
  // place_statistics.cpp
  void plan_gathers();
  void statistics(const schedule::Task& task);
  void collect(const schedule::Task& task, const SliceTensors& slice, const Tensor& row);
  void send_statistics(schedule::TaskId id, std::byte* message);
  void all_gather(schedule::TaskId id, const MessageBoard& board);
  /// From slot to slot, or from tier to tier.
  void copy_weights(schedule::TaskId id) const;
  void average(schedule::TaskId id) const;

  // place_messages.cpp
  void send(schedule::TaskId id, const MessageBoard& board);
  void receive(schedule::TaskId id, const MessageBoard& board);
  void reduce(schedule::TaskId id, const MessageBoard& board) const;
  void all_reduce(schedule::TaskId id, const MessageBoard& board) const;
  /// Strict mode: as the tree says.
  void sum_trees(schedule::TaskId id, const MessageBoard& board) const;
  void plan_transfers();
  const Tensor& travelling(const Tensors& tensors, const schedule::Task& task,
                           graph::NodeId node) const;
  std::span<const lane::CopyPiece> transfer_pieces(schedule::TaskId id, std::byte* message,
                                                   bool to_message);
  /// A peer's part of the gradient as a tensor this lane can read, copied if it has to be.
  Tensor operand(const schedule::Task& task, const std::byte* message, const Tensor& landing) const;
  /// Where as many elements as those of `like` can land; strict mode: one of several such places.
  Tensor landing(const Tensor& like, std::int32_t slot = 0) const;

  double sum_of_totals(std::size_t which) const;

  PlaceSetup setup_;
  PlaceBuffers buffers_;
  std::unique_ptr<PlaceUse> use_;
  std::vector<TaskOperands> operands_;  ///< by task; of other places' tasks: none
  std::vector<Tensors> micro_batches_;  ///< by micro-batch; empty for those of other places
  std::vector<bool> mine_;              ///< by micro-batch: this place loads it
  std::vector<std::vector<std::vector<Tensor>>> parameters_;    ///< by slot and node of the stage
  std::vector<std::vector<Tensor>> constants_;                  ///< by node of the stage
  std::vector<std::vector<std::vector<Tensor>>> d_parameters_;  ///< by slot and node of the stage
  /// What an update gives the optimizer: consecutive elements that are trained, and those that are
  /// not: statistics of layers.
  struct Update {
    std::vector<nn::UpdateArgs> trained;
    std::vector<nn::UpdateArgs> statistics;
  };
  std::map<schedule::TaskId, Update> updates_;
  /// What the norm of a gradient is made in, and the factor that it gives.
  struct Norm {
    Tensor pieces;     ///< (pieces, 2) i64: elements from the task's first one
    Tensor first;      ///< (own sums + 1) i64
    Tensor workspace;  ///< f64
    Tensor sums;       ///< (sums of the model) f64
    Tensor factor;     ///< (1) f64
    /// What a task sums, of all this.
    struct Squares {
      Tensor pieces;
      Tensor first;
      Tensor sums;
      std::size_t begin = 0;  ///< first piece of NormPlan::pieces
      std::size_t end = 0;    ///< behind the last one
    };
    std::map<schedule::TaskId, Squares> squares;
    /// Where the sums of other places go, by their messages; room for the copies.
    struct Arrivals {
      std::vector<std::pair<schedule::Buffer, Tensor>> sums;
      std::vector<lane::CopyPiece> pieces;
    };
    std::map<schedule::TaskId, Arrivals> arrivals;
  };
  Norm norm_;
  /// Rows of statistics that a broadcast sends, or that an all-gather finds in a message, and room
  /// for their pieces.
  struct Gather {
    std::vector<std::pair<schedule::Buffer, std::vector<Tensor>>> messages;
    std::vector<lane::CopyPiece> pieces;
  };
  std::map<schedule::TaskId, Gather> gathers_;
  nn::OptimizerPtr statistics_;  ///< takes the gradient off
  Tensor bad_;
  schedule::TaskId last_update_ = -1;
  graph::NodeId first_bad_ = -1;
  StepInputs inputs_of_call_;
  std::int64_t given_ = -1;  ///< samples of the batch of this call
  /// Nodes whose tensors a transfer of activations or their gradients carries, and room for its
  /// pieces.
  struct Transfer {
    std::vector<graph::NodeId> nodes;
    std::vector<lane::CopyPiece> pieces;
  };
  std::map<schedule::TaskId, Transfer> transfers_;
};

}  // namespace zygos::train
