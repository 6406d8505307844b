// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/schedule.hpp"

#include <cstddef>
#include <set>

namespace zygos::schedule {

/// Lanes that have tasks: those of their places take turns in computing, so this is how much can be
/// computed at once.
inline std::size_t active_lanes(const Schedule& schedule) {
  std::set<std::size_t> lanes;
  for (const Place place : schedule.active_places()) {
    lanes.insert(schedule.lane_of(place));
  }
  return lanes.size();
}

}  // namespace zygos::schedule
