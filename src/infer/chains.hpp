// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/dtype.hpp"
#include "zygos/graph/graph.hpp"
#include "zygos/nn/layer.hpp"

#include <cstddef>
#include <vector>

namespace zygos::infer {

/// Small dense layers that follow each other, each of them read by the next one alone: one fused
/// kernel may run them (ops/mlp), which reads the first one's input while it writes the last one's
/// output.
struct Chain {
  std::size_t first;  ///< node
  std::vector<nn::DenseForm> layers;
};

/// In the order of nodes. `dtype` of activations.
std::vector<Chain> chains_of(const graph::Graph& graph, DType dtype);

}  // namespace zygos::infer
