// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/plan/device_graphs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace zygos::app {

GraphLanes graph_lanes(const RunSetup& setup) {
  GraphLanes lanes;
  for (std::size_t place = 0; setup.device_graphs && place < setup.lanes->size(); ++place) {
    const lane::Lane& one = (*setup.lanes)[place];
    const bool records = one.records() && !setup.on_several_ranks();
    (records ? lanes.with : lanes.without).push_back(one.name());
  }
  return lanes;
}

std::string text_of(const GraphLanes& lanes) {
  if (lanes.with.empty()) {
    return lanes.without.empty() ? ""
                                 : fmt::format("none: steps can be captured on none of {}",
                                               fmt::join(lanes.without, ", "));
  }
  const std::string others =
      lanes.without.empty() ? "" : fmt::format("; none on {}", fmt::join(lanes.without, ", "));
  return fmt::format("steps captured on {}{} (device_graphs)", fmt::join(lanes.with, ", "), others);
}

}  // namespace zygos::app
