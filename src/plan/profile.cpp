// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/profile.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/memory_plan.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

namespace zygos::plan {
namespace {

using schedule::Task;
using schedule::TaskKind;

const Curve* curve_for(const PlaceCosts& costs, TaskKind kind) {
  auto found = costs.others.find(kind);
  for (const TaskKind stand_in : schedule::traits_of(kind).priced_as) {
    found = found == costs.others.end() ? costs.others.find(stand_in) : found;
  }
  return found == costs.others.end() ? nullptr : &found->second;
}

std::int32_t count_of(const std::vector<double>& by_node) {
  return static_cast<std::int32_t>(by_node.size());
}

/// An average reads each kept version once, as a stash reads one.
Task stash_like(const Task& task) {
  constexpr std::int64_t element_bytes = 4;
  Task stash = task;
  stash.kind = TaskKind::stash;
  stash.bytes =
      task.elements.count() * element_bytes * std::max<std::int64_t>(1, std::ssize(task.reads));
  return stash;
}

/// Empty if the costs say nothing of such a task.
std::optional<double> seconds_of(const PlaceCosts& costs, const Task& task) {
  if (costs.empty()) {
    return std::nullopt;
  }
  if (schedule::is_pass(task.kind)) {
    const auto& curves = costs.of(task.kind);
    const auto measured = [&](std::int32_t node) {
      return node < std::ssize(curves) && !curves[static_cast<std::size_t>(node)].empty();
    };
    if (curves.empty()) {
      return std::nullopt;  // also of a pass over no nodes, so that it stands beside one over some
    }
    for (auto node = task.nodes.begin; node < task.nodes.end; ++node) {
      if (!measured(node)) {
        return std::nullopt;
      }
    }
    return costs.pass_seconds(task.kind, task.nodes, task.samples.count());
  }
  if (schedule::traits_of(task.kind).cost == schedule::CostFamily::in_pass) {
    return 0.0;
  }
  if (const Curve* curve = curve_for(costs, task.kind)) {
    return curve->at(amount_of(task));
  }
  return task.kind == TaskKind::average ? seconds_of(costs, stash_like(task)) : std::nullopt;
}

}  // namespace

void Curve::add(std::int64_t amount, double seconds) {
  const auto place =
      std::ranges::lower_bound(points_, amount, {}, [](const auto& point) { return point.first; });
  if (place != points_.end() && place->first == amount) {
    place->second = std::min(place->second, seconds);
  } else {
    points_.insert(place, {amount, seconds});
  }
}

void Curve::set(std::int64_t amount, double seconds) {
  std::erase_if(points_, [&](const auto& point) { return point.first == amount; });
  add(amount, seconds);
}

double Curve::at(std::int64_t amount) const {
  ZYGOS_REQUIRE(!points_.empty(), "a curve without points has no values");
  if (points_.size() == 1) {
    return points_.front().second;
  }
  // The piece that holds the abscissa, or the nearest one.
  const auto after =
      std::upper_bound(points_.begin() + 1, points_.end() - 1, amount,
                       [](std::int64_t x, const auto& point) { return x < point.first; });
  const auto& [x0, y0] = *(after - 1);
  const auto& [x1, y1] = *after;
  double slope = (y1 - y0) / static_cast<double>(x1 - x0);
  if (x0 <= amount && amount <= x1) {
    return y0 + slope * static_cast<double>(amount - x0);
  }
  const auto& [x, y] = amount < x0 ? *(after - 1) : *after;
  const double steepest = x > 0 ? y / static_cast<double>(x) : slope;
  slope = std::clamp(slope, 0.0, std::max(0.0, steepest));
  return std::max(0.0, y + slope * static_cast<double>(amount - x));
}

Curve Curve::scaled(double factor) const {
  Curve out = *this;
  for (auto& point : out.points_) {
    point.second *= factor;
  }
  return out;
}

Curve Curve::raised(double seconds) const {
  Curve out = *this;
  for (auto& point : out.points_) {
    point.second += seconds;
  }
  return out;
}

Curve straight_line(double constant_s, double per_unit_s) {
  constexpr std::int64_t far = std::int64_t{1} << 40;
  Curve curve;
  curve.add(0, constant_s);
  curve.add(far, constant_s + per_unit_s * static_cast<double>(far));
  return curve;
}

Curve curve_of(const lane::Link& link) {
  constexpr std::int64_t far = std::int64_t{1} << 40;
  const auto seconds = [&](double bytes) {
    return link.latency_s + (link.bytes_per_second > 0.0 ? bytes / link.bytes_per_second : 0.0);
  };
  Curve curve;
  curve.add(0, seconds(0.0));
  curve.add(far, seconds(static_cast<double>(far)));
  return curve;
}

lane::Link fit_link(const Curve& curve) {
  // Minimises sum ((a + b x) / y - 1)^2 over the points with a positive time.
  double s = 0.0, sx = 0.0, sxx = 0.0, sy = 0.0, sxy = 0.0;
  double least = 0.0;
  for (const auto& [bytes, seconds] : curve.points()) {
    if (seconds <= 0.0) {
      continue;
    }
    const auto x = static_cast<double>(bytes);
    const double weight = 1.0 / (seconds * seconds);
    s += weight;
    sx += weight * x;
    sxx += weight * x * x;
    sy += weight * seconds;
    sxy += weight * x * seconds;
    least = least == 0.0 ? seconds : std::min(least, seconds);
  }
  const double determinant = s * sxx - sx * sx;
  if (!(determinant > 0.0)) {
    return {0.0, least};
  }
  double per_byte = (s * sxy - sx * sy) / determinant;
  double latency = (sy - per_byte * sx) / s;
  if (latency < 0.0) {
    latency = 0.0;
    per_byte = sxy / sxx;
  }
  return per_byte > 0.0 ? lane::Link{1.0 / per_byte, latency} : lane::Link{0.0, sy / s};
}

std::int64_t amount_of(const Task& task) {
  using schedule::CostFamily;
  const CostFamily family = schedule::traits_of(task.kind).cost;
  const bool by_samples = family == CostFamily::pass || family == CostFamily::samples;
  return by_samples                       ? task.samples.count()
         : family == CostFamily::elements ? task.elements.count()
                                          : task.bytes;
}

double PlaceCosts::pass_seconds(TaskKind kind, schedule::NodeRange nodes,
                                std::int64_t samples) const {
  const auto& curves = of(kind);
  ZYGOS_REQUIRE(nodes.begin >= 0 && static_cast<std::size_t>(nodes.end) <= curves.size(),
                "the profile is of another model than the schedule");
  double seconds = pass_s;
  for (auto node = nodes.begin; node < nodes.end; ++node) {
    seconds += curves[static_cast<std::size_t>(node)].at(samples);
  }
  return seconds;
}

const SliceFactor* PlaceProfile::factor_of(std::int32_t node, SliceKind kind) const {
  const auto found = std::ranges::find_if(slices, [&](const SliceFactor& factor) {
    return factor.node == node && factor.kind == kind;
  });
  return found == slices.end() ? nullptr : &*found;
}

bool Profile::knows(const Task& task) const {
  const PlaceProfile& place = places.at(static_cast<std::size_t>(task.place));
  const bool alias = schedule::writes_messages(task.kind) &&
                     schedule::is_read_in_place(task, place.host_accessible);
  return task.local || alias || seconds_of(place.alone, task) || seconds_of(place.together, task);
}

double Profile::seconds_on(schedule::Place on, const Task& task, bool together) const {
  const auto index = static_cast<std::size_t>(on);
  ZYGOS_REQUIRE(index < places.size(), "the profile is of other places than the schedule");
  const PlaceProfile& place = places[index];
  if (task.local) {
    return task_overhead_s + static_cast<double>(task.bytes) / local_copy_bytes_per_s;
  }
  if (schedule::writes_messages(task.kind) &&
      schedule::is_read_in_place(task, place.host_accessible)) {
    return task_overhead_s;
  }
  auto found = seconds_of(together ? place.together : place.alone, task);
  if (!found) {
    found = seconds_of(together ? place.alone : place.together, task);
  }
  if (!found) {
    throw InternalError("task kind '" + std::string(schedule::name_of(task.kind)) +
                        "' was never measured on place " + std::to_string(on));
  }
  return *found + task_overhead_s;
}

double Profile::seconds_behind(const Task& task, PassHistory history, bool together) const {
  const double first_s = seconds(task, together);
  if (history == PassHistory::first || !schedule::is_pass(task.kind)) {
    return first_s;
  }
  const PlaceProfile& place = places[static_cast<std::size_t>(task.place)];
  const PassDifferences& more = history == PassHistory::again ? place.again : place.alternating;
  const std::vector<double>& by_node = more.of(task.kind);
  double behind_s = first_s;
  for (auto node = task.nodes.begin; node < std::min(task.nodes.end, count_of(by_node)); ++node) {
    behind_s += by_node[static_cast<std::size_t>(node)];
  }
  // It was measured with some number of samples; with far fewer a pass is not free either.
  constexpr double min_share = 0.2;
  return std::max(behind_s, min_share * first_s);
}

double Profile::core_share(const Task& task) const {
  if (task.queue == schedule::Queue::compute) {
    return 0.0;
  }
  const PlaceProfile& place = places.at(static_cast<std::size_t>(task.place));
  const PlaceCosts& costs = place.alone.empty() ? place.together : place.alone;
  const auto found = costs.core.find(task.kind);
  const double whole_s = seconds(task, false);
  return found == costs.core.end() || whole_s <= 0.0
             ? 0.0
             : std::min(1.0, found->second.at(amount_of(task)) / whole_s);
}

}  // namespace zygos::plan
