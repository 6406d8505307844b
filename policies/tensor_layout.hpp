// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Which layers tensor parallelism cuts, and the sharded model that it makes of them.
#pragma once

#include "zygos/core/slice.hpp"
#include "zygos/schedule/model_outline.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zygos::policies {

/// A node of the whole model, the axis that is cut as (parts, units of the block, width).
struct TensorBlockNode {
  std::int32_t node = 0;
  std::int64_t parts = 1;
};

/// Nodes that are cut together: the first layer, layers that need only their own range of its
/// outputs, the second layer, each read by the next alone.
struct TensorBlock {
  std::vector<TensorBlockNode> nodes;
  std::int64_t units = 0;     ///< of which each lane has a range
  std::int64_t together = 1;  ///< that stay on one lane: the columns of a head

  std::int32_t first() const { return nodes.front().node; }
  std::int32_t last() const { return nodes.back().node; }
  /// What can be shared out.
  std::int64_t pieces() const { return units / together; }
};

struct TensorBlocks {
  std::vector<TensorBlock> blocks;
  std::string reasons;  ///< why other layers with parameters begin none, a line each
};

/// Blocks whose pieces suffice for so many lanes, taken from node `from` on.
TensorBlocks tensor_blocks(const schedule::ModelOutline& model, std::int64_t lanes,
                           std::int32_t from = 0);

/// What a lane does without a word to others: a range of nodes of the sharded model.
struct TensorStage {
  std::size_t lane = 0;  ///< in the order of slices
  schedule::NodeRange nodes;
};

/// The sharded model, stage by stage: per block the slices of all lanes, the first one's last, and
/// before, between and behind blocks what the first lane does alone.
class TensorLayout {
 public:
  /// `bounds`: by block, where the lanes' ranges of units begin, and where the last one ends.
  TensorLayout(const schedule::ModelOutline& model, std::vector<TensorBlock> blocks,
               std::vector<std::vector<std::int64_t>> bounds);

  std::vector<ModelSlice>& slices() { return slices_; }
  const std::vector<TensorStage>& stages() const { return stages_; }

 private:
  std::size_t lanes() const { return bounds_.front().size() - 1; }
  bool in_block(std::int32_t node) const;
  void end_stage(std::size_t lane, std::size_t begin);
  /// What the first lane does between two blocks: the sum of the one before, then whole layers up
  /// to the block, and copies of what its slices read. `from`: the first node that may be left to
  /// do.
  std::int32_t add_whole(std::size_t block, std::int32_t from);
  void add_sum(std::int32_t second);
  /// The other lanes' gradients of what they read come back by themselves, in no order.
  void add_copies(std::size_t block);
  void add_block(std::size_t block);

  const schedule::ModelOutline& model_;
  std::vector<TensorBlock> blocks_;
  std::vector<std::vector<std::int64_t>> bounds_;
  std::vector<ModelSlice> slices_;
  std::vector<TensorStage> stages_;
};

}  // namespace zygos::policies
