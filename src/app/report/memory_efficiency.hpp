// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory efficiency of policies beside each other (Ye et al., "Hippie", ICPP 2021): throughput over
// peak memory, relative to GPipe.
#pragma once

#include "zygos/memory/category.hpp"
#include "zygos/plan/memory_plan.hpp"
#include "zygos/schedule/schedule.hpp"
#include "zygos/train/engine.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace zygos::app {

/// What one way to train takes; 0: not known.
struct WayCost {
  std::string policy;  ///< as tables name it
  const schedule::Schedule* schedule = nullptr;
  double step_s = 0.0;
  std::size_t peak_bytes = 0;  ///< see max_lane_bytes()
};

/// Bytes of the lane that needs most, host memory in front of it included, files left out.
std::size_t max_lane_bytes(const std::vector<memory::Usage>& lanes);
std::size_t max_lane_bytes(const std::vector<plan::LaneMemory>& lanes);
std::size_t max_lane_bytes(const std::vector<train::LaneUsage>& used);

class MemoryEfficiency {
 public:
  explicit MemoryEfficiency(std::vector<WayCost> ways);

  /// Relative to the first way that is GPipe or, without one, to the fastest single lane; nothing
  /// where neither is there or costs are not known.
  std::optional<double> of(std::size_t way) const;
  /// "1.25x", or "-".
  std::string text_of(std::size_t way) const;
  /// A line for below the table, which says what its column ME is; empty where there is nothing to
  /// compare with.
  std::string legend_below() const;

 private:
  std::vector<WayCost> ways_;
  std::optional<std::size_t> baseline_;
};

}  // namespace zygos::app
