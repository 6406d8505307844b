// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/memory_efficiency.hpp"

#include "app/text.hpp"

#include "zygos/plan/formulas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace zygos::app {

namespace {

bool is_known(const WayCost& way) { return way.step_s > 0.0 && way.peak_bytes > 0; }

std::optional<std::size_t> baseline_of(const std::vector<WayCost>& ways) {
  std::optional<std::size_t> single;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (!is_known(ways[i])) {
      continue;
    }
    if (ways[i].schedule->policy == "gpipe") {
      return i;
    }
    const bool alone = ways[i].schedule->active_lanes().size() == 1;
    if (alone && (!single || ways[i].step_s < ways[*single].step_s)) {
      single = i;
    }
  }
  return single;
}

}  // namespace

std::size_t max_lane_bytes(const std::vector<memory::Usage>& lanes) {
  std::size_t most = 0;
  for (const memory::Usage& lane : lanes) {
    most = std::max(most, lane.total());
  }
  return most;
}

std::size_t max_lane_bytes(const std::vector<plan::LaneMemory>& lanes) {
  std::size_t most = 0;
  for (const plan::LaneMemory& lane : lanes) {
    most = std::max(most, lane.lane.total() + lane.staging.total());
  }
  return most;
}

std::size_t max_lane_bytes(const std::vector<train::LaneUsage>& used) {
  std::map<std::string, std::size_t> bytes;
  std::size_t most = 0;
  for (const train::LaneUsage& usage : used) {
    if (!usage.lane.ends_with("/file")) {
      std::size_t& lane = bytes[usage.lane.substr(0, usage.lane.find('/'))];
      lane += usage.used.total();
      most = std::max(most, lane);
    }
  }
  return most;
}

MemoryEfficiency::MemoryEfficiency(std::vector<WayCost> ways)
    : ways_(std::move(ways)), baseline_(baseline_of(ways_)) {}

std::optional<double> MemoryEfficiency::of(std::size_t way) const {
  if (!baseline_ || !is_known(ways_[way])) {
    return std::nullopt;
  }
  const WayCost& base = ways_[*baseline_];
  return plan::memory_efficiency(
      base.step_s / ways_[way].step_s,
      static_cast<double>(ways_[way].peak_bytes) / static_cast<double>(base.peak_bytes));
}

std::string MemoryEfficiency::text_of(std::size_t way) const {
  const auto found = of(way);
  return found ? text_of_speedup(*found) : "-";
}

std::string MemoryEfficiency::legend_below() const {
  return baseline_ ? fmt::format(
                         "\nME: memory efficiency, throughput over the memory of the fullest lane, "
                         "relative to {}",
                         ways_[*baseline_].policy)
                   : std::string();
}

}  // namespace zygos::app
