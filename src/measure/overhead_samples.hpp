// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/median.hpp"
#include "measure/stopwatch_run.hpp"

#include "zygos/plan/profile.hpp"

#include <vector>

namespace zygos::measure {

/// What runs took around their tasks. Not every run shows everything.
class OverheadSamples {
 public:
  void add(const MeasuredPoint& point) {
    if (point.single_overhead_s >= 0.0) {
      single_.push_back(point.single_overhead_s);
    }
    if (point.joint_overhead_s >= 0.0) {
      joint_.push_back(point.joint_overhead_s);
    }
    add_found(gaps_, point.gap_s);
    add_found(handovers_, point.handover_s);
    add_found(wakes_, point.wake_s);
    add_found(message_handovers_, point.message_handover_s);
  }

  /// Medians; 0 of what no run showed.
  void write_to(plan::Profile& profile) const {
    profile.step_overhead_s = median(single_);
    profile.joint_overhead_s = median(joint_.empty() ? single_ : joint_);
    profile.task_overhead_s = median(gaps_);
    profile.handover_s = median(handovers_);
    profile.wake_s = median(wakes_);
    profile.message_handover_s = median(message_handovers_);
  }

 private:
  static void add_found(std::vector<double>& samples, double seconds) {
    if (seconds > 0.0) {
      samples.push_back(seconds);
    }
  }

  std::vector<double> single_, joint_, gaps_, handovers_, wakes_, message_handovers_;
};

}  // namespace zygos::measure
