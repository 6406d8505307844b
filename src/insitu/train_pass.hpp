// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A training step over a fixed number of samples in one place: which memory each layer reads and
// writes on the way forward and back. Tensors share memory where the order of the layers proves
// that they are not live at once.
#pragma once

#include "zygos/graph/graph.hpp"
#include "zygos/memory/packing.hpp"
#include "zygos/nn/loss.hpp"
#include "zygos/tensor/tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace zygos::insitu {

struct NodeStep {
  std::vector<Tensor> inputs;
  Tensor output;
  std::vector<Tensor> forward_workspace;
  bool runs_backward = false;
  std::vector<Tensor> backward_workspace;
  Tensor d_output;
  std::vector<Tensor> d_inputs;
  /// (part, whole): a gradient that is made apart and added to that of all readers.
  std::vector<std::pair<Tensor, Tensor>> added;
};

class TrainPass {
 public:
  /// `activations`: their type. The graph must outlive it.
  TrainPass(const graph::Graph& graph, DType activations, std::int64_t samples);

  std::int64_t samples() const noexcept { return samples_; }
  /// Of the workspace.
  std::size_t bytes() const noexcept { return bytes_; }
  /// Sets all tensors to a workspace of bytes().
  void bind(std::byte* workspace);

  const std::vector<NodeStep>& nodes() const noexcept { return nodes_; }
  const Tensor& input() const noexcept { return at(input_); }
  const Tensor& ids() const noexcept { return at(ids_); }
  const nn::LossArgs& loss() const noexcept { return loss_; }

 private:
  using Index = std::size_t;
  static constexpr Index none = static_cast<Index>(-1);
  /// Indices of a node's tensors.
  struct NodePlan {
    Index output = none;
    std::vector<Index> forward_workspace;
    std::vector<Index> backward_workspace;
    Index d_output = none;
    std::vector<Index> added;  ///< by input; none: written straight or unwanted
  };

  Index plan(DType dtype, const Shape& shape, std::int64_t first, std::int64_t last);
  void plan_samples();
  void plan_node(graph::NodeId id);
  void plan_loss();
  bool has_backward(graph::NodeId id) const;
  std::int64_t forward_of(graph::NodeId id) const { return id + 1; }
  std::int64_t loss_moment() const;
  std::int64_t backward_of(graph::NodeId id) const;
  /// Of a node's output, if anybody but the loss reads it: first, last of the readers' way back.
  std::pair<std::int64_t, std::int64_t> readers_backward(graph::NodeId id) const;
  const Tensor& at(Index index) const { return tensors_[index]; }
  Tensor optional(Index index) const { return index == none ? Tensor() : tensors_[index]; }
  void bind_node(graph::NodeId id);

  const graph::Graph& graph_;
  DType activations_;
  std::int64_t samples_;
  std::size_t bytes_ = 0;
  std::vector<std::vector<graph::InputGradient>> gradients_;
  std::vector<Tensor> tensors_;
  std::vector<memory::LiveInterval> live_;  ///< of each
  std::vector<NodePlan> plans_;
  std::vector<NodeStep> nodes_;
  nn::LossArgs loss_;
  Index input_ = none;
  Index target_ = none;
  Index ids_ = none;
  Index sample_losses_ = none;
  Index sample_hits_ = none;
  Index totals_ = none;
};

}  // namespace zygos::insitu
