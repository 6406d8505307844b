// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/rounds.hpp"

#include <cstddef>

namespace zygos::measure {

void log_round(const ProfileRequest& request, int round, const std::string& what) {
  log(request.log, LogLevel::debug,
      "round " + std::to_string(round + 1) + " of " + std::to_string(profile_rounds) + ": " + what);
}

MeasuredPoint measure_round(TrialEngine& engine, std::int64_t samples, double seconds) {
  return engine.measure(samples, seconds / profile_rounds, LongSteps::one);
}

void keep_fastest(std::vector<double>& fastest, const std::vector<double>& seconds) {
  fastest.resize(seconds.size(), 0.0);
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    if (seconds[i] > 0.0 && (fastest[i] == 0.0 || seconds[i] < fastest[i])) {
      fastest[i] = seconds[i];
    }
  }
}

MeasuredPoint fastest_point(const std::vector<MeasuredPoint>& points) {
  MeasuredPoint out = points.front();
  for (const MeasuredPoint& point : points) {
    keep_fastest(out.task_s, point.task_s);
    keep_fastest(out.core_s, point.core_s);
    keep_fastest(out.accompanied_s, point.accompanied_s);
  }
  return out;
}

bool RoundsRun::measure(const ProfileRequest& request, int round) {
  log_round(request, round, what);
  for (; chosen < schedules.size(); ++chosen) {
    const schedule::Schedule& schedule = schedules[chosen];
    const auto engine = engine_if_fits(
        request, schedule, what + " with " + std::to_string(schedule.batch) + " samples");
    if (engine != nullptr) {
      points.push_back(measure_round(*engine, samples > 0 ? samples : schedule.batch, seconds));
      return true;
    }
    if (!points.empty()) {
      break;  // it did fit: others have the memory now
    }
  }
  return false;
}

void RoundsRun::teach() const {
  if (!points.empty()) {
    learn(schedules[chosen], fastest_point(points));
  }
}

void measure_in_rounds(const ProfileRequest& request, std::vector<RoundsRun> runs,
                       const std::function<void(const MeasuredPoint&)>& seen) {
  for (int round = 0; round < profile_rounds; ++round) {
    for (RoundsRun& run : runs) {
      if (run.measure(request, round)) {
        seen(run.points.back());
      }
    }
  }
  for (const RoundsRun& run : runs) {
    run.teach();
  }
}

}  // namespace zygos::measure
