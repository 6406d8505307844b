// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What sums: gradients of several places, and versions of weights.
#pragma once

#include "train/messages/message_board.hpp"

#include "zygos/schedule/task.hpp"

namespace zygos::train {

struct PlaceState;

/// Adds the part of a gradient that a message brings.
void run_reduce(PlaceState& state, schedule::TaskId id, const MessageBoard& board);
void run_all_reduce(PlaceState& state, schedule::TaskId id, const MessageBoard& board);
/// The mean of all versions of the weights becomes the current one.
void run_average(PlaceState& state, schedule::TaskId id);

}  // namespace zygos::train
