// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a network has learned and what it learns with: weights, their gradient, the optimizer's
// states, the copy that rollback() goes to, and how samples are standardised. One block of memory.
#pragma once

#include "infer/weights.hpp"
#include "insitu/instance.hpp"
#include "insitu/kernels/reservoir_kernels.hpp"

#include "zygos/graph/graph.hpp"
#include "zygos/insitu/state.hpp"
#include "zygos/memory/arena.hpp"
#include "zygos/nn/optimizer.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace zygos::insitu {

/// What clipping by the norm of the gradient works with; empty tensors if nothing is clipped.
struct ClipTensors {
  Tensor pieces;     ///< (N, 2) i64
  Tensor first;      ///< (S + 1) i64
  Tensor workspace;  ///< f64
  Tensor sums;       ///< (S) f64
  Tensor factor;     ///< (1) f64
};

/// Begin and end of pieces, and by node with parameters its first piece; then how many there are.
struct ClipTable {
  std::vector<std::int64_t> pieces;
  std::vector<std::int64_t> first;
};

class Parameters {
 public:
  /// Weights from the seed, everything else zero, standards 0 and 1.
  Parameters(const Instance& instance, const graph::Graph& graph, const nn::Optimizer& optimizer,
             DType type, std::uint64_t seed);

  const Tensor& weights() const noexcept { return weights_; }
  const Tensor& gradient() const noexcept { return gradient_; }
  /// Flat, as many as the optimizer has.
  const std::vector<Tensor>& states() const noexcept { return states_; }
  /// By node.
  const infer::NodeTensors& node_weights() const noexcept { return node_weights_; }
  const infer::NodeTensors& node_gradients() const noexcept { return node_gradients_; }
  const Tensor& decay_mask() const noexcept { return decay_mask_; }
  const ClipTensors& clip() const noexcept { return clip_; }
  std::int32_t* bad() const noexcept { return bad_; }
  std::size_t bytes() const noexcept { return arena_.layout().total(); }

  /// Columns of inputs, then of targets.
  const Standards& standards() const noexcept { return standards_; }
  std::int64_t width() const noexcept { return inputs_ + targets_; }
  const Standards& input_standards() const noexcept { return standards_; }
  Standards target_standards() const { return standards_.from(inputs_); }
  /// Others, that are to become the standards.
  const Standards& fresh_standards() const noexcept { return fresh_; }
  /// They do. With `absorb`, where the first and the last layer are dense, with a bias and the last
  /// one linear, both are changed so that predictions stay the same. Optimizer states are zero
  /// then, because gradients have other units, and what is kept are these weights.
  void take_fresh_standards(const lane::Execution& execution, bool absorb) const;
  /// Whether predictions stay the same.
  bool absorbs_standards() const noexcept { return first_dense_ >= 0 && last_dense_ >= 0; }

  /// Weights and states become what rollback goes to, or what is kept.
  void keep(const lane::Execution& execution) const;
  void roll_back(const lane::Execution& execution) const;

  void add_to(State& state, const Instance& instance) const;
  /// Throws CheckpointError before anything is changed.
  void check(const State& state) const;
  void restore(const State& state, const Instance& instance) const;

 private:
  class Layout;
  void lay_out_learned(Layout& layout, const nn::Optimizer& optimizer, const Shape& flat,
                       DType type);
  void lay_out_clipping(Layout& layout, const nn::Optimizer& optimizer, const graph::Graph& graph);
  void find_dense_ends(const graph::Graph& graph);
  void initialise(const Instance& instance, const graph::Graph& graph, std::uint64_t seed) const;
  void write_decay_mask(const Instance& instance, const graph::Graph& graph) const;
  void write_pieces(const Instance& instance) const;

  std::vector<graph::Parameter> named_;
  std::vector<std::string> buffer_names_;  ///< "weights", then those of states
  std::int64_t inputs_;
  std::int64_t targets_;
  memory::Arena arena_;
  Tensor weights_;
  Tensor gradient_;
  std::vector<Tensor> states_;
  std::vector<Tensor> kept_;  ///< of weights, then of states
  infer::NodeTensors node_weights_;
  infer::NodeTensors node_gradients_;
  Tensor decay_mask_;
  ClipTensors clip_;
  ClipTable clip_table_;
  Standards standards_;
  Standards fresh_;
  graph::NodeId first_dense_ = -1;  ///< what absorbs standards of inputs; -1: nothing can
  graph::NodeId last_dense_ = -1;
  std::int32_t* bad_ = nullptr;
};

}  // namespace zygos::insitu
