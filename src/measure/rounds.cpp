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

void log_round(const ProfileRequest& request, int round, const std::string& what) {
  log(request.log, LogLevel::debug,
      "round " + std::to_string(round + 1) + " of " + std::to_string(profile_rounds) + ": " + what);
}

MeasuredPoint fastest_point(const std::vector<MeasuredPoint>& points) {
  MeasuredPoint out = points.front();
  out.task_s = smallest(points, &MeasuredPoint::task_s);
  out.core_s = smallest(points, &MeasuredPoint::core_s);
  out.accompanied_s = smallest(points, &MeasuredPoint::accompanied_s);
  return out;
}

void measure_in_rounds(const ProfileRequest& request, const std::vector<RoundsRun>& runs,
                       const std::function<void(const MeasuredPoint&)>& seen) {
  std::vector<std::size_t> chosen(runs.size(), 0);  // of each run's schedules
  std::vector<std::vector<MeasuredPoint>> points(runs.size());
  for (int round = 0; round < profile_rounds; ++round) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const RoundsRun& run = runs[i];
      log_round(request, round, run.what);
      for (bool measured = false; !measured && chosen[i] < run.schedules.size();) {
        const schedule::Schedule& schedule = run.schedules[chosen[i]];
        const auto engine = engine_if_fits(
            request, schedule, run.what + " with " + std::to_string(schedule.batch) + " samples");
        measured = engine != nullptr;
        if (measured) {
          points[i].push_back(engine->measure(run.samples > 0 ? run.samples : schedule.batch,
                                              run.seconds / profile_rounds, LongSteps::one));
          seen(points[i].back());
        } else {
          ++chosen[i];
        }
      }
    }
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!points[i].empty()) {
      runs[i].learn(runs[i].schedules[chosen[i]], fastest_point(points[i]));
    }
  }
}

}  // namespace zygos::measure
