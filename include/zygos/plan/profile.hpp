// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/task.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace zygos::plan {

/// Seconds as a function of samples, piecewise linear through measured points; beyond them the last
/// piece goes on. With one point: constant.
class Curve {
 public:
  /// Points may come in any order; a repeated abscissa keeps the smaller value.
  void add(std::int64_t samples, double seconds);
  double at(std::int64_t samples) const;
  /// Median of the measured seconds, for work that does not depend on the samples.
  double typical() const;
  bool empty() const noexcept { return points_.empty(); }
  const std::vector<std::pair<std::int64_t, double>>& points() const noexcept { return points_; }

 private:
  std::vector<std::pair<std::int64_t, double>> points_;
};

/// Measured costs of one place: a curve per kind of task, once with the place working alone and
/// once with all places working (shared caches, memory bandwidth and clocks make these differ).
struct PlaceProfile {
  std::map<schedule::TaskKind, Curve> alone;
  std::map<schedule::TaskKind, Curve> together;
};

/// What was measured on this machine for one model, batch and set of lanes.
struct Profile {
  std::vector<PlaceProfile> places;
  double step_overhead_s = 0.0;  ///< start and end of a step, outside its tasks
  /// Seconds of a task on its place, without samples (send, all_reduce, update) the curve's typical
  /// value. Curves of the other situation stand in for missing ones; InternalError if the kind was
  /// never measured there.
  double seconds(const schedule::Task& task, bool together) const;
};

}  // namespace zygos::plan
