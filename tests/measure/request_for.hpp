// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/small_run.hpp"

#include "zygos/measure/profiler.hpp"

namespace zygos::test {

/// `run` must outlive it.
inline measure::ProfileRequest request_for(SmallRun& run) {
  return {run.graph, *run.optimizer, run.lanes, {}, run.options, run.batch(), 0.005, {}, 0};
}

}  // namespace zygos::test
