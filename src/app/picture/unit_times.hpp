// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Times of a step without measurements: the same on every machine, to the bit.
#pragma once

#include "zygos/plan/simulator.hpp"
#include "zygos/schedule/schedule.hpp"

namespace zygos::app {

/// Forward of a micro-batch through a place's stage takes 1, backward 2, an update of all that the
/// place holds 1/2, weights and gradients on a link 1 (a part of them less); anything small 1/8. A
/// place without parameters of its own (it adds partial sums) computes for 1/4 of that. Places of a
/// lane take turns.
plan::Simulation unit_times(const schedule::Schedule& schedule);

}  // namespace zygos::app
