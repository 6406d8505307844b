// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/plan/memory_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::plan {

/// Where a buffer's tensors lie from its begin; each is padded.
struct BufferLayout {
  SlotTable slots;
  std::size_t bytes = 0;
};

class TimedSlots;

/// Sizes of the tensors of a place's buffers, for `samples` samples in `slices`. `trains`: backward
/// follows, and needs all that forward computed.
class BufferSizes {
 public:
  BufferSizes(const MemoryRequest& request, const StageTensors& stage,
              const schedule::Schedule& schedule, schedule::SampleRange samples, bool trains);

  /// Slots of a buffer by its kind:
  ///   inputs, staging   model_input, target, sample_ids (0 bytes where the stage does not read it)
  ///   boundary, outputs   output of each node of the stage's list
  ///   input_gradients, output_gradients   output_gradient of each node of the stage's list; last
  ///                     stage, output_gradients: loss_values and loss_hits, too
  ///   activations, resting_activations, spilled_activations   output of the nodes of the segment
  ///                     that are not in `outputs`, kept_workspace
  ///   scratch, slot 0   output_gradient inside the stage, added_gradient, scratch_workspace;
  ///                     slot 1: scratch_workspace
  /// Slots of scratch share memory where no node needs both; without backward activations, too.
  BufferLayout of(const schedule::Buffer& buffer) const;

 private:
  std::size_t bytes(const Shape& sample) const;
  BufferLayout of_boundary() const { return of_nodes(Role::output, stage_.boundary); }
  BufferLayout of_outputs() const { return of_nodes(Role::output, stage_.outputs); }
  BufferLayout of_input_gradients() const {
    return of_nodes(Role::output_gradient, stage_.input_gradients);
  }
  BufferLayout of_batch() const;
  void add_nodes(Role role, const std::vector<graph::NodeId>& nodes, TimedSlots& slots) const;
  BufferLayout of_nodes(Role role, const std::vector<graph::NodeId>& nodes) const;
  /// Of the buffer's segment.
  BufferLayout of_activations(std::int32_t segment) const;
  BufferLayout of_losses() const;
  BufferLayout of_backward_scratch() const;
  void add_gradients(TimedSlots& slots) const;
  BufferLayout of_forward_scratch() const;
  /// Workspace of the stage's node that is kept, or not, of a slice; needed at `moment` alone.
  void add_workspace(graph::NodeId id, bool kept, std::size_t slice, std::int64_t moment,
                     TimedSlots& slots) const;
  /// By the stage's node: its last reader in the stage, or itself.
  std::vector<graph::NodeId> last_readers() const;

  const MemoryRequest& request_;
  const StageTensors& stage_;
  const schedule::Schedule& schedule_;
  std::int64_t samples_;
  std::vector<schedule::SampleRange> slices_;
  bool trains_;
};

}  // namespace zygos::plan
