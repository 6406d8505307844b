// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>

namespace zygos::app {

/// How much of a long run a report takes, so that its page stays small.
struct ReportLimits {
  std::size_t steps = 20;             ///< of the timeline's end
  std::size_t timeline_tasks = 8000;  ///< fewer steps where they would have more tasks than this
  std::size_t metrics = 2000;         ///< lines with training figures
};

/// What the page draws of a trace.json (the object write_trace() made): step 1 and the last steps
/// of which every task was kept, the predicted step, bytes over time, and the idle share per place
/// over all whole steps. Times are microseconds from the start of their step. Throws
/// nlohmann::json::exception where the trace is none.
nlohmann::json timeline_of(const nlohmann::json& trace, const ReportLimits& limits);

}  // namespace zygos::app
