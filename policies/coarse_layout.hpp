// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Who trains a share of the batch in a coarse split, and the schedule of given shares.
#pragma once

#include "zygos/plan/problem.hpp"
#include "zygos/plan/profile.hpp"
#include "zygos/policies/policies.hpp"
#include "zygos/schedule/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zygos::policies {

/// A lane with the whole model, or the lanes of a pipeline, one for each stage.
struct SplitWorker {
  std::vector<schedule::Place> lanes;
  bool is_pipeline = false;
};

struct SplitLayout {
  std::vector<schedule::NodeRange> stages;  ///< of the pipeline; without one all nodes
  std::vector<SplitWorker> workers;         ///< in the order of their first lanes in the run
  SplitPipelineOptions pipeline;
  std::int64_t micro_batches = 1;           ///< of a lane's share; fewer where it has fewer samples
  std::int64_t pipeline_micro_batches = 1;  ///< of the pipeline's, likewise

  std::vector<std::string> names(const plan::Problem& problem) const;
};

/// Lanes of the pipeline: those that the options name, or all that are no host lanes. UsageError if
/// these are fewer than two, or if no lane is left for a replica.
std::vector<schedule::Place> pipeline_lanes(const plan::Problem& problem,
                                            const SplitPipelineOptions& pipeline);

/// Every lane a worker, but those of the pipeline one together. Open cuts are what the profile says
/// is fastest, or else the FLOPs. `micro_batches`: the policy's own option. UsageError for more
/// micro-batches than a batch has samples, or chunks of strict mode.
SplitLayout split_layout(const plan::Problem& problem, const plan::Profile* profile,
                         const std::optional<SplitPipelineOptions>& pipeline,
                         const std::optional<std::int64_t>& micro_batches);

/// The schedule in which every worker trains its share of the batch, neighbouring and in the order
/// of workers; who has no samples takes no part.
schedule::Schedule split_schedule(const plan::Problem& problem, const SplitLayout& layout,
                                  const std::vector<schedule::SampleRange>& shares);

}  // namespace zygos::policies
