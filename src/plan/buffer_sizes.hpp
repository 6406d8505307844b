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

/// Sizes of the tensors of a place's buffers, for `samples` samples in `slices`.
class BufferSizes {
 public:
  BufferSizes(const MemoryRequest& request, const StageTensors& stage,
              schedule::SampleRange samples, std::int64_t chunk);

  /// In the order in which the engine binds them:
  ///   inputs, staging   model inputs, targets, ids (0 where the stage has no use for them)
  ///   boundary, outputs, input_gradients   one per node of the stage's list
  ///   activations       outputs of the nodes that are not `outputs`, then per slice and node what
  ///                     the layer keeps
  ///   output_gradients  one per node of the list; last stage: losses and hits of the samples, too
  ///   scratch, slot 0   gradients of the outputs inside the stage, of inputs that are added, and
  ///                     workspace; slot 1: workspace
  std::vector<std::size_t> of(const schedule::Buffer& buffer) const;

 private:
  std::size_t bytes(const Shape& sample) const;
  std::vector<std::size_t> of_batch() const;
  std::vector<std::size_t> of_nodes(const std::vector<graph::NodeId>& nodes) const;
  std::vector<std::size_t> of_activations() const;
  std::vector<std::size_t> of_losses() const;
  std::vector<std::size_t> of_scratch() const;
  void add_workspace(std::vector<std::size_t>& sizes, bool kept, schedule::SampleRange slice) const;

  const MemoryRequest& request_;
  const StageTensors& stage_;
  std::int64_t samples_;
  std::vector<schedule::SampleRange> slices_;
};

}  // namespace zygos::plan
