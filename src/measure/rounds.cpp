// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/rounds.hpp"

#include <cstddef>

namespace zygos::measure {
namespace {

std::vector<double> smallest(const std::vector<MeasuredPoint>& points,
                             std::vector<double> MeasuredPoint::*by_task) {
  std::vector<double> out = points.front().*by_task;
  for (const MeasuredPoint& point : points) {
    for (std::size_t task = 0; task < out.size(); ++task) {
      const double found = (point.*by_task)[task];
      if (found > 0.0 && (out[task] == 0.0 || found < out[task])) {
        out[task] = found;
      }
    }
  }
  return out;
}

}  // namespace

MeasuredPoint fastest_point(const std::vector<MeasuredPoint>& points) {
  MeasuredPoint out = points.front();
  out.task_s = smallest(points, &MeasuredPoint::task_s);
  out.core_s = smallest(points, &MeasuredPoint::core_s);
  out.accompanied_s = smallest(points, &MeasuredPoint::accompanied_s);
  return out;
}

void measure_in_rounds(const ProfileRequest& request, const std::vector<RoundsRun>& runs,
                       int rounds, const std::function<void(const MeasuredPoint&)>& seen) {
  std::vector<std::vector<MeasuredPoint>> points(runs.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (round > 0 && points[i].empty()) {
        continue;  // it did not fit
      }
      if (const auto engine = engine_if_fits(request, runs[i].schedule, runs[i].what)) {
        points[i].push_back(engine->measure(runs[i].samples, runs[i].seconds / rounds));
        seen(points[i].back());
      }
    }
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!points[i].empty()) {
      runs[i].learn(runs[i].schedule, fastest_point(points[i]));
    }
  }
}

}  // namespace zygos::measure
