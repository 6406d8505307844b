// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Several schedules measured in rounds (a, b, c, a, b, c, ...). Where a core is shared with the
// work of others, as a virtual machine's is, it may run at two thirds of its speed for a tenth of a
// second or for seconds. The median of a point does not see single steps of that kind, the fastest
// of three points does not see a round of them.
#pragma once

#include "measure/profile_run.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace zygos::measure {

/// Of everything that a profile is measured from. Steps that are longer than a point should be are
/// made twice in each, see LongSteps.
constexpr int profile_rounds = 3;

/// Progress: what is measured now. `round`: from 0.
void log_round(const ProfileRequest& request, int round, const std::string& what);

/// The point of one round; `seconds`: of all rounds together.
MeasuredPoint measure_round(TrialEngine& engine, std::int64_t samples, double seconds);

/// Element by element the smaller one; 0: not measured.
void keep_fastest(std::vector<double>& fastest, const std::vector<double>& seconds);

/// The smallest times of each task; of what a point does not have, of the others. Overheads are
/// those of the first point.
MeasuredPoint fastest_point(const std::vector<MeasuredPoint>& points);

/// What to measure, and who learns from what its tasks took.
struct RoundsRun {
  std::vector<schedule::Schedule> schedules;  ///< the first one that fits is measured
  std::string what;                           ///< for the log
  std::int64_t samples = 0;                   ///< of a step; 0: the schedule's batch
  double seconds = 0.0;                       ///< of all rounds together
  std::function<void(const schedule::Schedule&, const MeasuredPoint&)> learn;
  std::size_t chosen = 0;               ///< of the schedules; their number if none fits
  std::vector<MeasuredPoint> points{};  ///< of the rounds so far

  /// Another point; false if no schedule fits, or the chosen one does not any more.
  bool measure(const ProfileRequest& request, int round);
  /// From the fastest_point() so far, if there is one.
  void teach() const;
};

/// One engine lives at a time: all have the lanes' whole budgets. Runs of which no schedule fits
/// are left out. `seen` gets the points of all rounds as they come; in the end every run learns, in
/// the order of the list.
void measure_in_rounds(const ProfileRequest& request, std::vector<RoundsRun> runs,
                       const std::function<void(const MeasuredPoint&)>& seen);

}  // namespace zygos::measure
