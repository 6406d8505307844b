// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Statistics of a divided batch: each slice has a row in a table, other places' rows come by
// message, and layers read the rows of all samples that an update averages over.
#pragma once

#include "train/messages/message_board.hpp"

#include "zygos/lane/lane.hpp"
#include "zygos/schedule/task.hpp"
#include "zygos/tensor/tensor.hpp"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace zygos::train {

struct PlaceState;

/// Rows of statistics that a broadcast sends, or that an all-gather finds in a message, and room
/// for their pieces.
struct Gather {
  std::vector<std::pair<schedule::Buffer, std::vector<Tensor>>> messages;
  std::vector<lane::CopyPiece> pieces;
};
using Gathers = std::map<schedule::TaskId, Gather>;

Gathers bind_gathers(const PlaceState& state);

void run_statistics(PlaceState& state, schedule::TaskId id);
/// What a broadcast of statistics does.
void send_statistics(PlaceState& state, schedule::TaskId id, std::byte* message);
void run_all_gather(PlaceState& state, schedule::TaskId id, const MessageBoard& board);

}  // namespace zygos::train
