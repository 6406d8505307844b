// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/task.hpp"

namespace zygos::train {

struct PlaceState;

/// A part of the gradient becomes what the optimizer exchanges of it (nn::Optimizer::compress());
/// nothing in steps that Schedule::one_bit does not compress.
void run_compress(PlaceState& state, schedule::TaskId id);

}  // namespace zygos::train
