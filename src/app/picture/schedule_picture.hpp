// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// One step of a schedule as a picture (SVG): a row for each queue of a lane, a box for each task,
// an arrow for each message from one lane to another.
#pragma once

#include "zygos/plan/simulator.hpp"
#include "zygos/schedule/schedule.hpp"

#include <string>
#include <vector>

namespace zygos::app {

/// What the times of a simulation count in.
enum class TimeUnit { forward_pass, second };

/// A message that one lane writes and another reads.
struct Arrow {
  schedule::TaskId from = 0;
  schedule::TaskId to = 0;
};
std::vector<Arrow> arrows_of(const schedule::Schedule& schedule);

/// Needs no fonts, scripts or files; follows the light or dark mode of whoever shows it. The same
/// bytes everywhere if the times are those of unit_times().
std::string schedule_picture(const schedule::Schedule& schedule, const plan::Simulation& times,
                             TimeUnit unit);

}  // namespace zygos::app
