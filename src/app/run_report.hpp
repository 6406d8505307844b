// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run says before its first and after its last step, and its summary.json.
#pragma once

#include "app/console.hpp"
#include "app/run_setup.hpp"
#include "app/split_plan.hpp"

#include "zygos/train/engine.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace zygos::app {

/// Model, data and lanes, a line each.
void say_setup(const RunSetup& setup, Console& console);
/// Split, prediction, and the planner's advice where it would not split.
void say_split(const RunSetup& setup, const SplitPlan& split, Console& console);

/// What is known when a run ends or stops.
struct RunEnd {
  train::Event last;  ///< finished or stopped
  std::vector<train::LaneUsage> memory;
  std::string weights_xxh64;
  double samples_per_s = 0.0;               ///< over all steps of this process
  std::optional<train::MeasuredGain> gain;  ///< of a finished split
};

nlohmann::json summary_of(const RunSetup& setup, const SplitPlan& split, const RunEnd& end);
void say_end(const RunSetup& setup, const SplitPlan& split, const RunEnd& end, Console& console);

/// "host 52 + device 48 of 100 samples"
std::string split_text(const RunSetup& setup, const schedule::Schedule& schedule);
/// "host    OpenMP, 2 threads", without the name.
std::string lane_text(const lane::LaneSpec& spec);

}  // namespace zygos::app
