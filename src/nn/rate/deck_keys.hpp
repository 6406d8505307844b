// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/deck/schema.hpp"
#include "zygos/deck/value.hpp"
#include "zygos/nn/rate_schedules.hpp"

#include <string_view>

namespace zygos::nn {

/// Steps or epochs; far from where their product could overflow.
inline constexpr double longest_rate_stretch = 1e9;

/// A quantity of steps or epochs.
Duration duration_of(const deck::Section& options, std::string_view key);

/// Every schedule may begin with a warm-up: its keys, their value (no steps if there is none), and
/// the schedule with the ramp before it.
void add_warm_up(deck::Schema& schema);
Duration warm_up_of(const deck::Section& options);
RateSchedulePtr warmed_up(const deck::Section& options, RateSchedulePtr base);

}  // namespace zygos::nn
