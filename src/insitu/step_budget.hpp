// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/error.hpp"

#include <algorithm>
#include <cstdint>

namespace zygos::insitu {

/// What steps are expected to take, from those that were taken. Grows at once, shrinks slowly, and
/// is forgotten little by little where it forbids every step: one slow step is no reason to stop
/// learning for good.
class StepEstimate {
 public:
  double seconds() const noexcept { return seconds_; }
  void add(double taken) {
    seconds_ = taken > seconds_ ? seconds_ + (taken - seconds_) * growth_after(count_)
                                : seconds_ + (taken - seconds_) * 0.1;
    ++count_;
  }
  /// A call had no room for a step.
  void forget() { seconds_ *= 0.9; }

 private:
  /// The first step says all there is to know.
  static double growth_after(std::int64_t steps) { return steps == 0 ? 1.0 : 0.5; }

  double seconds_ = 0.0;
  std::int64_t count_ = 0;
};

/// Whether one more step fits.
struct StepBudget {
  double seconds = 0.0;        ///< 0: no limit
  std::int64_t max_steps = 0;  ///< 0: no limit

  void require_limit() const {
    if (seconds < 0.0 || max_steps < 0 || (seconds == 0.0 && max_steps == 0)) {
      throw UsageError(
          "train() without an end: give a budget above zero, such as {.budget = 500us}, or "
          "max_steps");
    }
  }
  bool fits(double elapsed, std::int64_t steps, const StepEstimate& estimate) const {
    return (max_steps == 0 || steps < max_steps) &&
           (seconds == 0.0 || elapsed + estimate.seconds() <= seconds);
  }
};

}  // namespace zygos::insitu
