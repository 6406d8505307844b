// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks ways to run a deck and says why.
#pragma once

#include "zygos/memory/category.hpp"
#include "zygos/plan/problem.hpp"
#include "zygos/plan/profile.hpp"
#include "zygos/plan/simulator.hpp"

#include <functional>
#include <string>
#include <vector>

namespace zygos::plan {

/// One way to run the deck, as predicted. Who makes one fills in policy, schedule and simulation
/// (see candidate()) and, if he likes, the memory.
struct Candidate {
  std::string policy;                 ///< "single(host)", "coarse_split(share 0.31)"
  std::vector<std::int64_t> samples;  ///< per lane
  double step_s = 0.0;
  double speedup = 1.0;  ///< against the fastest single place; set by recommend()
  Simulation simulation;
  schedule::Schedule schedule;
  std::vector<memory::Usage> peak;  ///< per lane, staging included; empty: not planned
  bool eligible = true;             ///< may be recommended; ranked either way
  std::string reason;               ///< one line: what its time goes to; set by recommend()

  bool is_split() const { return schedule.active_lanes().size() > 1; }
  double idle_share() const { return simulation.idle_share(); }
  std::int64_t bytes() const { return simulation.bytes; }
  std::int64_t messages() const { return simulation.messages; }
};

/// Simulates the schedule with the profile.
Candidate candidate(std::string policy, schedule::Schedule schedule, const Profile& profile);

/// A way that cannot be gone, and why not: memory, options, places.
struct Refusal {
  std::string policy;
  std::string reason;
};

/// Rates at the full batch, samples per second of forward + loss + backward, one per place; 0 where
/// a place was not measured alone.
std::vector<double> sample_rates(const Profile& profile, std::int64_t batch);

/// Makes the schedule of a split with `first` samples on place 0 and the rest on place 1.
using SplitSchedule = std::function<schedule::Schedule(std::int64_t first)>;

/// The number of samples for place 0 that minimises the simulated step, by evaluating every count
/// for small batches and a coarse-to-fine search for large ones.
std::int64_t best_first_share(const Profile& profile, std::int64_t batch,
                              const SplitSchedule& split);

/// How units are divided between workers: the units that go from one to another at once, at first
/// and at last, and what every worker keeps.
struct DivisionSearch {
  std::int64_t first_shift = 1;
  std::int64_t last_shift = 1;
  std::int64_t least = 0;
};

/// Shifts units from worker to worker, in steps that halve, as long as the step gets shorter. From
/// `start` the result is a division that no single shift improves.
std::vector<std::int64_t> best_division(
    std::vector<std::int64_t> start, const DivisionSearch& search,
    const std::function<double(const std::vector<std::int64_t>&)>& step_s);

/// A gain that is within the noise of a measurement is not worth the second copy of the state.
inline constexpr double worthwhile_gain = 0.05;

struct Recommendation {
  std::size_t best = 0;               ///< index into candidates
  std::vector<Candidate> candidates;  ///< in the order they were given
  std::vector<std::size_t> order;     ///< indices into candidates, fastest first
  std::vector<Refusal> refusals;      ///< for the caller to fill in
  double upper_bound = 1.0;           ///< of any policy's speed-up: sum of rates / fastest rate
  std::string reason;  ///< one paragraph: rates, bound, copy and exchange cost, verdict
};

/// The fastest eligible candidate; but work on several places is recommended only if it is
/// predicted to win by more than `threshold`; otherwise the reason says "device only" or "host
/// only" with the gain that was found.
Recommendation recommend(const Problem& problem, const Profile& profile,
                         std::vector<Candidate> candidates, double threshold = worthwhile_gain);

}  // namespace zygos::plan
