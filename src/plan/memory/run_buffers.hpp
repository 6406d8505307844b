// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/plan/memory_plan.hpp"

namespace zygos::plan {

/// Adds to `out` all buffers of the place that outlive a step, and those of a single task. Which
/// there are follows from what the place's tasks name, and their elements from what these tasks
/// work on: no buffer of a kind is needed because another kind of task runs here.
void plan_run_buffers(const MemoryRequest& request, const schedule::TasksByPlace& tasks,
                      schedule::Place place, PlaceMemory& out);

}  // namespace zygos::plan
