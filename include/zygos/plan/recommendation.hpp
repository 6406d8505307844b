// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/plan/problem.hpp"
#include "zygos/plan/profile.hpp"
#include "zygos/plan/simulator.hpp"

#include <functional>
#include <string>
#include <vector>

namespace zygos::plan {

/// One way to run the deck, as predicted.
struct Candidate {
  std::string policy;                 ///< "single(host)", "coarse_split(share 0.31)"
  std::vector<std::int64_t> samples;  ///< per place
  double step_s = 0.0;
  double speedup = 1.0;  ///< against the fastest single place
  Simulation simulation;
  schedule::Schedule schedule;
};

/// Rates at the full batch, samples per second of forward + loss + backward, one per place.
std::vector<double> sample_rates(const Profile& profile, std::int64_t batch);

/// Makes the schedule of a split with `first` samples on place 0 and the rest on place 1.
using SplitSchedule = std::function<schedule::Schedule(std::int64_t first)>;

/// The number of samples for place 0 that minimises the simulated step, by evaluating every count
/// for small batches and a coarse-to-fine search for large ones.
std::int64_t best_first_share(const Profile& profile, std::int64_t batch,
                              const SplitSchedule& split);

struct Recommendation {
  std::size_t best = 0;               ///< index into candidates
  std::vector<Candidate> candidates;  ///< each single place, then the best split
  double upper_bound = 1.0;           ///< min(2, 1 + s_slow / s_fast) for two places
  std::string reason;  ///< one paragraph: rates, bound, copy and exchange cost, verdict
};

/// A split is recommended only if it is predicted to win by more than `threshold` (0.05: less is
/// within the noise of a measurement and not worth the second copy of the state); otherwise the
/// reason says "device only" or "host only" with the gain that was found.
Recommendation recommend(const Problem& problem, const Profile& profile,
                         std::vector<Candidate> candidates, double threshold = 0.05);

}  // namespace zygos::plan
