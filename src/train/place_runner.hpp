// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/graph/graph.hpp"
#include "zygos/lane/lane.hpp"
#include "zygos/memory/arena.hpp"
#include "zygos/nn/optimizer.hpp"
#include "zygos/plan/memory_plan.hpp"
#include "zygos/schedule/schedule.hpp"
#include "zygos/train/batch.hpp"

#include <cstdint>
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
};

/// The model as one place needs it; everything a runner does not own.
struct PlaceSetup {
  const graph::Graph& graph;
  const nn::Optimizer& optimizer;
  lane::Lane& lane;
  plan::TargetSpec target;
  DType dtype = DType::f32;
  std::uint64_t seed = 1;
  schedule::SampleRange samples;  ///< of a full batch
};

/// Memory and tensors of one place, and what each kind of task does there. Everything but the
/// constructor and the accessors runs on the lane's driver thread.
class PlaceRunner {
 public:
  PlaceRunner(const PlaceSetup& setup, plan::PlaceMemory memory);

  /// Adapts all tensors to the samples of this call; cheap when their number is the same as before.
  void begin(const StepInputs& inputs);
  /// `peers`: runners by place; only an all-reduce looks at them.
  void run(const schedule::Task& task, std::span<PlaceRunner* const> peers);

  /// Marks in the optimizer's mask which parameters decay; part of putting state on a place.
  void write_decay_mask() const;
  /// No layer writes the gaps between parameters, and they must never hold anything but zeros.
  void zero_gradients() const;

  /// Samples of this call: fewer than planned, even none, in an incomplete batch.
  std::int64_t count() const noexcept { return count_; }
  double loss_sum() const { return host_totals()[0]; }
  double hit_sum() const { return host_totals()[1]; }
  const Tensor& weights() const noexcept { return update_.weights; }
  std::span<const Tensor> states() const noexcept { return update_.states; }
  Tensor gradient(bool reduced) const { return reduced ? reduced_ : gradients_; }
  Tensor output(std::size_t node) const { return nodes_[node].output; }
  const plan::PlaceMemory& memory() const noexcept { return memory_; }
  lane::Lane& lane() const noexcept { return setup_.lane; }

 private:
  /// A node's tensors, bound to the samples of the current call.
  struct NodeTensors {
    std::vector<Tensor> inputs;
    std::vector<Tensor> parameters;
    std::vector<Tensor> workspace;
    std::vector<Tensor> d_inputs;
    std::vector<Tensor> d_parameters;
    Tensor output;
    Tensor d_output;
    bool has_backward = true;
    /// Gradients that came into memory of their own, and what they are added to.
    std::vector<std::pair<Tensor, Tensor>> added;
  };

  Tensor at(std::size_t piece, DType dtype, const Shape& shape) const;
  Tensor staged(std::size_t piece, DType dtype, const Shape& shape) const;
  void bind_parameters();
  void bind_samples(std::int64_t count);
  void bind_node(std::size_t node, std::int64_t count);
  void bind_input_gradients(std::size_t node);
  nn::Context context(std::size_t node) const;

  void load();
  void copy_in() const;
  void forward(schedule::NodeRange nodes) const;
  void loss() const;
  void backward(schedule::NodeRange nodes) const;
  void add_gradients(const NodeTensors& node) const;
  void send() const;
  void all_reduce(std::span<PlaceRunner* const> peers) const;
  void update(bool reduced);

  /// This place's gradient where every place's host code may read it.
  const void* sent_gradients() const;
  /// A peer's gradient as a tensor this lane can read, copied into `landing` if it has to be.
  Tensor operand(const PlaceRunner& peer, const Tensor& landing) const;
  const double* host_totals() const;

  PlaceSetup setup_;
  plan::PlaceMemory memory_;
  memory::Arena arena_;
  memory::Arena staging_;
  std::vector<NodeTensors> nodes_;
  std::vector<std::vector<graph::InputGradient>> input_gradients_;
  Tensor inputs_;
  Tensor targets_;
  Tensor sample_ids_;
  Tensor gradients_;
  Tensor reduced_;
  Tensor incoming_;
  nn::LossArgs loss_;
  nn::UpdateArgs update_;
  StepInputs inputs_of_call_;
  schedule::SampleRange range_;
  std::int64_t count_ = -1;
};

}  // namespace zygos::train
