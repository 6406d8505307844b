// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What calls the layers and the loss: passes through the nodes of a stage.
#pragma once

#include "zygos/nn/loss.hpp"
#include "zygos/schedule/task.hpp"

#include <array>

namespace zygos::train {

struct PlaceState;

/// Of forward and recompute tasks.
void run_forward(PlaceState& state, schedule::TaskId id);
void run_loss(PlaceState& state, schedule::TaskId id);
void run_backward(PlaceState& state, schedule::TaskId id);

/// Losses, hits and valid samples of this place's part of the last call, each summed in the order
/// of micro-batches.
std::array<double, nn::loss_totals> sums_of_loss(const PlaceState& state);

}  // namespace zygos::train
