// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A forward pass over a fixed number of samples: which memory of the workspace each layer reads and
// writes. Tensors share memory where the order of the layers proves that they are not live at once.
#pragma once

#include "zygos/graph/graph.hpp"
#include "zygos/memory/packing.hpp"
#include "zygos/tensor/tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::infer {

struct NodeCall {
  std::vector<Tensor> inputs;
  std::vector<Tensor> workspace;
  Tensor output;
};

class Pass {
 public:
  /// `dtype` of activations.
  Pass(const graph::Graph& graph, DType dtype, std::int64_t samples);

  std::int64_t samples() const noexcept { return samples_; }
  /// Of the workspace.
  std::size_t bytes() const noexcept { return bytes_; }
  /// Sets all tensors to a workspace of bytes().
  void bind(std::byte* workspace);
  /// The model's input and output in the workspace.
  const Tensor& input() const noexcept { return input_; }
  const Tensor& output() const noexcept { return output_; }
  /// From now on, the first layers read the model's input here and the last one writes there.
  void redirect(void* input, void* output);

  const std::vector<NodeCall>& nodes() const noexcept { return nodes_; }

 private:
  void lay_out(const graph::Graph& graph, DType dtype);

  std::int64_t samples_;
  std::size_t bytes_ = 0;
  Tensor input_;
  Tensor output_;
  std::vector<NodeCall> nodes_;
  std::vector<std::vector<graph::NodeId>> sources_;  ///< by node: of its inputs
  std::vector<memory::LiveInterval> live_;           ///< of the input, then by node of its output
                                                     ///< and of its workspace
};

}  // namespace zygos::infer
