// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a model reads and never writes: parameters, and constants of layers.
#pragma once

#include "infer/shared_block.hpp"

#include "zygos/graph/graph.hpp"
#include "zygos/infer/model.hpp"
#include "zygos/tensor/tensor.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace zygos::infer {

/// By node: its tensors of one kind.
using NodeTensors = std::vector<std::vector<Tensor>>;

/// The graph's flat parameter buffer, filled. `type`: of its elements. Throws as Model does.
std::shared_ptr<SharedBlock> flat_weights(const graph::Graph& graph, DType type,
                                          std::span<const Weight> weights);
/// The parameters of all nodes in there, where an instance reads them.
void bind_weights(const graph::Graph& graph, DType type, std::byte* flat, NodeTensors& tensors);

/// Constants of layers, and where they lie. They depend on the graph alone.
class Constants {
 public:
  Constants(const graph::Graph& graph, DType type);
  std::size_t bytes() const noexcept { return block_.bytes(); }
  NodeTensors bind(const lane::Execution& execution);

 private:
  /// By node.
  using Specs = std::vector<std::vector<nn::ConstantSpec>>;
  explicit Constants(const Specs& specs);

  struct Place {
    DType dtype;
    Shape shape;
    std::size_t offset;
  };
  std::vector<std::vector<Place>> places_;  ///< by node
  SharedBlock block_;
};

}  // namespace zygos::infer
