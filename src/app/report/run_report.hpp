// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run says before its first and after its last step, and its summary.json.
#pragma once

#include "app/console.hpp"
#include "app/plan/run_plan.hpp"
#include "app/run/run_setup.hpp"

#include "zygos/measure/profiler.hpp"
#include "zygos/train/engine.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace zygos::app {

/// Model, data and lanes, a line each.
void say_setup(const RunSetup& setup, Console& console);
/// Who does what, what was decided, the prediction, and the planner's advice where it would not.
void say_plan(const RunSetup& setup, const RunPlan& plan, Console& console);

/// Of samples that are read while training.
struct DataReading {
  train::LaneUsage memory;  ///< batches read ahead
  double waited_s = 0.0;    ///< total time that steps have waited for samples
};

/// What is known when a run ends or stops.
struct RunEnd {
  train::Event last;  ///< finished or stopped
  std::vector<train::LaneUsage> memory;
  std::string weights_xxh64;
  train::CheckpointCosts checkpoints;
  std::optional<train::LaneUsage> checkpoint_memory;  ///< none: nothing was saved
  double samples_per_s = 0.0;                         ///< over all steps of this process
  std::optional<DataReading> data;                    ///< none: all samples are in memory
  std::optional<measure::MeasuredGain> gain;          ///< of a finished run on several lanes
};

nlohmann::json summary_of(const RunSetup& setup, const RunPlan& plan, const RunEnd& end);
/// One line about what happens, behind a name in bold; further lines of the text below it.
void note_field(Console& console, const std::string& name, const std::string& text);
/// The same of the result.
void say_field(Console& console, const std::string& name, const std::string& text);
void say_end(const RunSetup& setup, const RunPlan& plan, const RunEnd& end, Console& console);

/// "host    OpenMP, 2 threads", without the name.
std::string lane_text(const lane::LaneSpec& spec);

}  // namespace zygos::app
