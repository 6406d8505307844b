// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/plan/memory_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::plan {

/// True for a buffer that lies in a place's staging, not on its lane.
inline bool is_staged(schedule::BufferKind kind) {
  return kind == schedule::BufferKind::staging || kind == schedule::BufferKind::message;
}

/// Where a buffer's tensors lie from its begin; each is padded.
struct BufferLayout {
  std::vector<std::size_t> tensors;
  std::size_t bytes = 0;
};

/// Sizes of the tensors of a place's buffers, for `samples` samples in `slices`. `trains`: backward
/// follows, and needs all that forward made.
class BufferSizes {
 public:
  BufferSizes(const MemoryRequest& request, const StageTensors& stage,
              schedule::SampleRange samples, std::int64_t chunk, bool trains);

  /// In the order in which the engine binds them:
  ///   inputs, staging   model inputs, targets, ids (0 where the stage has no use for them)
  ///   boundary, outputs, input_gradients   one per node of the stage's list
  ///   activations       outputs of the nodes that are not `outputs`, then per slice and node what
  ///                     the layer keeps
  ///   output_gradients  one per node of the list; last stage: losses and hits of the samples, too
  ///   scratch, slot 0   gradients of the outputs inside the stage, of inputs that are added, and
  ///                     workspace; slot 1: workspace
  /// Tensors of scratch share memory where no node needs both; without backward activations, too.
  BufferLayout of(const schedule::Buffer& buffer) const;

 private:
  using Sizes = std::vector<std::size_t>;
  std::size_t bytes(const Shape& sample) const;
  Sizes of_batch() const;
  Sizes of_nodes(const std::vector<graph::NodeId>& nodes) const;
  BufferLayout of_activations() const;
  Sizes of_losses() const;
  BufferLayout of_backward_scratch() const;
  BufferLayout of_forward_scratch() const;
  /// What the stage's node keeps, or not, of a slice.
  Sizes workspace(graph::NodeId id, bool kept, schedule::SampleRange slice) const;
  /// By the stage's node: its last reader in the stage, or itself.
  std::vector<graph::NodeId> last_readers() const;

  const MemoryRequest& request_;
  const StageTensors& stage_;
  std::int64_t samples_;
  std::vector<schedule::SampleRange> slices_;
  bool trains_;
};

}  // namespace zygos::plan
