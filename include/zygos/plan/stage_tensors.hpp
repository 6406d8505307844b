// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Which tensors the buffers of a place consist of. The memory plan takes sizes from it and the
// engine its bindings, so the two cannot disagree.
#pragma once

#include "zygos/graph/graph.hpp"
#include "zygos/schedule/schedule.hpp"

#include <cstdint>
#include <vector>

namespace zygos::plan {

struct TargetSpec {
  Shape shape;  ///< sample shape of a target, rank 0 for one label
  DType dtype = DType::i32;
};

/// What one stage takes in and gives out. Lists of nodes are ascending.
struct StageTensors {
  schedule::NodeRange nodes;
  std::vector<graph::NodeId> boundary;          ///< of earlier stages, read here
  std::vector<graph::NodeId> input_gradients;   ///< those of them that want a gradient
  std::vector<graph::NodeId> outputs;           ///< read by later stages, or by the caller
  std::vector<graph::NodeId> output_gradients;  ///< those of them that get a gradient
  bool reads_input = false;
  bool is_last = false;
};
StageTensors stage_tensors(const graph::Graph& graph,
                           const std::vector<schedule::NodeRange>& stages, schedule::Stage stage);

/// Position of `node` in an ascending list; -1 if it is not there.
std::int32_t position(const std::vector<graph::NodeId>& nodes, graph::NodeId node);

/// True if the backward pass has anything to do in the node.
bool has_backward(const graph::Graph& graph, graph::NodeId node);

/// What a schedule needs to know of the model.
schedule::ModelOutline outline_of(const graph::Graph& graph, DType dtype, const TargetSpec& target);

}  // namespace zygos::plan
