// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What goes from memory to memory as it is. A message lies in host memory: the sender's lane brings
// it there, the receiver's lane takes it from there.
#pragma once

#include "train/messages/message_board.hpp"

#include "zygos/graph/graph.hpp"
#include "zygos/lane/lane.hpp"
#include "zygos/schedule/task.hpp"
#include "zygos/tensor/tensor.hpp"

#include <cstddef>
#include <map>
#include <vector>

namespace zygos::train {

struct PlaceState;

/// Nodes whose tensors a transfer of activations or their gradients carries, and room for its
/// pieces, or for the tensors of a coded one.
struct Transfer {
  std::vector<graph::NodeId> nodes;
  std::vector<lane::CopyPiece> pieces;
  std::vector<Tensor> tensors;
};
using Transfers = std::map<schedule::TaskId, Transfer>;

Transfers bind_transfers(const PlaceState& state);

/// Memory of a message of this place; for one that is no copy, the buffer it stands for.
std::byte* message_memory(const PlaceState& state, schedule::TaskId sender);

/// Of sends and broadcasts.
void run_send(PlaceState& state, schedule::TaskId id, const MessageBoard& board);
void run_receive(PlaceState& state, schedule::TaskId id, const MessageBoard& board);
/// Weights from slot to slot, or from tier to tier: of stash, offload and fetch tasks.
/// Activations of a segment, between the lane and host memory.
void run_copy_activations(PlaceState& state, schedule::TaskId id);
void run_copy_weights(PlaceState& state, schedule::TaskId id);

}  // namespace zygos::train
