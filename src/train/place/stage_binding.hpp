// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// From a planned place to tensors: what each node of its stage reads and writes for each
// micro-batch.
#pragma once

#include "train/place/place_buffers.hpp"

#include "zygos/graph/graph.hpp"
#include "zygos/nn/loss.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace zygos::train {

/// What a node's forward pass touches, parameters left out.
struct NodePass {
  std::vector<Tensor> inputs;
  std::vector<Tensor> workspace;
  Tensor output;
};

/// The same for its backward pass.
struct NodeBackward {
  NodePass pass;
  Tensor d_output;
  std::vector<Tensor> d_inputs;
  /// Gradients that come into memory of their own, and what they are added to.
  std::vector<std::pair<Tensor, Tensor>> added;
  bool runs = true;
};

/// Samples that go through the layers together. Nodes are counted from the stage's first.
struct SliceTensors {
  schedule::SampleRange samples;  ///< of the global batch
  Tensor ids;
  std::vector<NodePass> forward;
  std::vector<NodePass> recompute;
  std::vector<NodeBackward> backward;
};

struct MicroBatchTensors {
  schedule::SampleRange samples;  ///< of this call: fewer than planned in an incomplete batch
  Tensor inputs, targets, ids;
  std::vector<Tensor> boundary, outputs, input_gradients, output_gradients;
  std::vector<SliceTensors> slices;  ///< none if there are no samples
  nn::LossArgs loss;                 ///< last stage
};

/// Everything a binding is made from.
struct BindingSource {
  const graph::Graph& graph;
  const PlaceBuffers& buffers;
  plan::TargetSpec target;
  DType dtype = DType::f32;
  const schedule::Schedule& schedule;
  std::int32_t batch_slot = 0;  ///< of the inputs
};

/// Binds `samples`, the part of the micro-batch's planned samples that this call has.
MicroBatchTensors bind_micro_batch(const BindingSource& source, schedule::MicroBatch micro_batch,
                                   schedule::SampleRange samples);

}  // namespace zygos::train
