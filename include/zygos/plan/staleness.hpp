// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/schedule.hpp"

#include <cstdint>
#include <vector>

namespace zygos::plan {

/// By place: the most updates that weights have had since the gradient which is applied to them was
/// begun. 0 for synchronous policies; on stage s of K, PipeDream has K-1-s; PipeDream-2BW has 1.
std::vector<std::int32_t> staleness(const schedule::Schedule& schedule);

/// The largest of these.
std::int32_t largest_staleness(const schedule::Schedule& schedule);

/// True if a step is one update with the gradient of the whole batch, as on a single place. Other
/// schedules learn something else, be it as good.
bool is_synchronous(const schedule::Schedule& schedule);

}  // namespace zygos::plan
