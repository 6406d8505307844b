// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What is known of a run at its end, and its summary.json.
#pragma once

#include "app/plan/run_plan.hpp"
#include "app/run/run_setup.hpp"

#include "zygos/measure/profiler.hpp"
#include "zygos/train/engine.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace zygos::app {

/// Of samples that are read or augmented while training.
struct DataReading {
  train::LaneUsage memory;  ///< batches read ahead, and augmented ones
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
  std::optional<DataReading> data;                    ///< none: in memory, as they are
  std::optional<measure::MeasuredGain> gain;          ///< of a finished run on several lanes

  /// With that of data and checkpoints.
  std::vector<train::LaneUsage> all_memory() const;
  /// Throughput over the memory of the fullest lane; 0 where nothing was measured.
  double samples_per_s_per_gib() const;
};

/// Whether updates begin before the norm of the gradient is known.
bool speculates(const schedule::Schedule& schedule);

/// How samples come: {"in_memory": ..., "bytes": ...}, of the buffers of batches that are read or
/// augmented while training, and "prefetch" where they are read.
nlohmann::json data_json(const RunSetup& setup);
nlohmann::json summary_of(const RunSetup& setup, const RunPlan& plan, const RunEnd& end);

}  // namespace zygos::app
