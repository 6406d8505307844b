// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The forward pass in evaluation mode, layer by layer, but for chains of small dense layers: these
// are one fused kernel where that is faster (ops/mlp).
#pragma once

#include "infer/chains.hpp"
#include "infer/pass.hpp"
#include "infer/weights.hpp"

#include "zygos/graph/graph.hpp"
#include "zygos/lane/execution.hpp"

#include <span>
#include <vector>

namespace zygos::infer {

class Evaluation {
 public:
  /// `dtype` of activations. The graph outlives this.
  Evaluation(const graph::Graph& graph, DType dtype);

  /// Enqueues all layers. Outputs of nodes inside a chain may stay unwritten.
  void run(const lane::Execution& execution, std::span<const NodeCall> calls,
           const NodeTensors& parameters, const NodeTensors& constants) const;

 private:
  bool run_chain(const Chain& chain, const lane::Execution& execution,
                 std::span<const NodeCall> calls, const NodeTensors& parameters) const;

  const graph::Graph& graph_;
  DType dtype_;
  std::vector<Chain> chains_;  ///< in the order of nodes
};

}  // namespace zygos::infer
