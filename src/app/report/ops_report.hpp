// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The ops of a training step under the peak of their lane, for people and for machines.
#pragma once

#include "app/run/run_setup.hpp"

#include "zygos/measure/op_times.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace zygos::app {

/// One lane of the schedule.
struct LaneOps {
  std::string lane;
  measure::OpTimes times;
};

/// Measures every lane that takes part in the schedule, alone with the whole batch. One whose
/// memory can't hold it is left out, with a line in the log.
std::vector<LaneOps> measure_lane_ops(RunSetup& setup, const schedule::Schedule& schedule,
                                      const LogSink& log);

/// A line with the peak, a table of the ops, one of their types, and the whole step's line.
std::string ops_text(const LaneOps& ops);
/// {"ops": rows, "peaks": by lane}
nlohmann::json ops_json(const std::vector<LaneOps>& lanes);

}  // namespace zygos::app
