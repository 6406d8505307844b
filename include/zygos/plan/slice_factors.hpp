// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What slices of layers really take, from a schedule of a sharded model that was run. The share of
// the layer's time is too little for a slice of a convolution, which reads the whole input, and
// sums and copies of activations aren't additions of gradients.
#pragma once

#include "zygos/plan/profile.hpp"
#include "zygos/schedule/schedule.hpp"

#include <span>

namespace zygos::plan {

/// True if the schedule's model has slices of which the profile has no factors.
bool has_unmeasured_slices(const schedule::Schedule& schedule, const Profile& profile);

/// Adds factors for slices that have none, from what the tasks of a schedule of a sharded model
/// took (`task_s`, seconds by TaskId). A task tells what all of its nodes take: whole layers among
/// them are charged what the profile says, the rest is shared out in proportion to what it
/// predicts. Throws UsageError if the profile can't predict the schedule.
void learn_slices(const schedule::Schedule& schedule, std::span<const double> task_s,
                  Profile& profile);

}  // namespace zygos::plan
