// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/measure/profiler.hpp"

#include <vector>

namespace zygos::measure {

struct RoundsRun;

/// Corrects a profile by schedules that are run for a moment: what their tasks take becomes what
/// they are predicted to take beside others, and of a sharded model what its slices do, see
/// plan::learn_slices().
class Refinement {
 public:
  /// All must outlive this.
  Refinement(const ProfileRequest& request, plan::Profile& profile);
  ~Refinement();
  Refinement(const Refinement&) = delete;
  Refinement& operator=(const Refinement&) = delete;

  /// Measures the schedule once; the profile learns from it at once. False if it does not fit the
  /// lanes' budgets.
  bool add(schedule::Schedule schedule);

  /// Measures all that were added again, in rounds; the profile learns from the fastest times of
  /// each task instead of the first ones.
  void repeat();

 private:
  const ProfileRequest& request_;
  plan::Profile& profile_;
  plan::Profile before_;  ///< as it was when nothing had been added
  std::vector<RoundsRun> runs_;
};

}  // namespace zygos::measure
