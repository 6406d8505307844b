// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// How a place's samples reach it: gathered in host memory, then copied to a lane that has its own.
#pragma once

#include "zygos/schedule/task.hpp"

namespace zygos::train {

struct PlaceState;

void run_load(PlaceState& state, schedule::TaskId id);
void run_copy(PlaceState& state, schedule::TaskId id);

}  // namespace zygos::train
