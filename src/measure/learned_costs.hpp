// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a profile learns from schedules that several lanes work on.
#pragma once

#include "measure/stopwatch_run.hpp"

#include "zygos/plan/profile.hpp"

#include <cstdint>

namespace zygos::measure {

/// Work on all lanes is measured pass behind pass. One that is the first since the weights were
/// updated finds them, and its activations, in farther caches: whatever the samples, by so much.
void learn_first_passes(const schedule::Schedule& schedule, const MeasuredPoint& point,
                        plan::Profile& profile);

/// What passes over micro-batches behind the first take more or less than one by itself.
void learn_passes_behind(const schedule::Schedule& schedule, const MeasuredPoint& point,
                         plan::Profile& profile);

/// What messages take, and updates of parts of the model. `samples`: of a step.
void learn_transfers(const schedule::Schedule& schedule, const MeasuredPoint& point,
                     std::int64_t samples, plan::Profile& profile);

}  // namespace zygos::measure
