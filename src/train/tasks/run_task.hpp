// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/messages/message_board.hpp"

#include "zygos/schedule/task.hpp"

namespace zygos::train {

struct PlaceState;

/// What the task's kind does at its place. Messages lie where the board says.
void run_task(PlaceState& state, schedule::TaskId id, const MessageBoard& board);

}  // namespace zygos::train
