// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/profile.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>

namespace zygos::plan {

void Curve::add(std::int64_t samples, double seconds) {
  const auto place =
      std::ranges::lower_bound(points_, samples, {}, [](const auto& point) { return point.first; });
  if (place != points_.end() && place->first == samples) {
    place->second = std::min(place->second, seconds);
  } else {
    points_.insert(place, {samples, seconds});
  }
}

double Curve::at(std::int64_t samples) const {
  ZYGOS_REQUIRE(!points_.empty(), "a curve without points has no values");
  if (points_.size() == 1) {
    return points_.front().second;
  }
  // The piece that holds the abscissa, or the nearest one.
  std::size_t right = 1;
  while (right + 1 < points_.size() && points_[right].first < samples) {
    ++right;
  }
  const auto& [x0, y0] = points_[right - 1];
  const auto& [x1, y1] = points_[right];
  const double slope = (y1 - y0) / static_cast<double>(x1 - x0);
  return std::max(0.0, y0 + slope * static_cast<double>(samples - x0));
}

double Curve::typical() const {
  ZYGOS_REQUIRE(!points_.empty(), "a curve without points has no values");
  std::vector<double> seconds;
  for (const auto& point : points_) {
    seconds.push_back(point.second);
  }
  std::ranges::sort(seconds);
  const std::size_t half = seconds.size() / 2;
  return seconds.size() % 2 == 1 ? seconds[half] : 0.5 * (seconds[half - 1] + seconds[half]);
}

double Profile::seconds(const schedule::Task& task, bool together) const {
  const auto index = static_cast<std::size_t>(task.place);
  ZYGOS_REQUIRE(index < places.size(), "the profile is of other places than the schedule");
  const PlaceProfile& place = places[index];
  const auto& preferred = together ? place.together : place.alone;
  const auto& other = together ? place.alone : place.together;
  auto found = preferred.find(task.kind);
  if (found == preferred.end()) {
    found = other.find(task.kind);
    if (found == other.end()) {
      throw InternalError("task kind '" + std::string(schedule::name_of(task.kind)) +
                          "' was never measured on place " + std::to_string(task.place));
    }
  }
  const std::int64_t samples = task.samples.count();
  return samples == 0 ? found->second.typical() : found->second.at(samples);
}

}  // namespace zygos::plan
