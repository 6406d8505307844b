// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Schedules for measurements only: each exposes one kind of cost when it is run and timed.
#pragma once

#include "zygos/plan/problem.hpp"
#include "zygos/schedule/schedule.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace zygos::measure {

/// The whole batch on one place. `by_node`: a task per node and direction instead of one for all.
/// `versions`: a stash and an average of two versions at the end, which need memory of their own.
schedule::Schedule single_lane_schedule(const plan::Problem& problem, schedule::Place place,
                                        bool by_node, bool versions = false);

/// Every place holds the model and works through micro-batches of its own, of the sizes given by
/// place, without a word to the others before the end, where all sum what all have sent.
schedule::Schedule side_by_side_schedule(const plan::Problem& problem,
                                         const std::vector<std::vector<std::int64_t>>& sizes);

/// Every place holds the model. Parts of the gradient, from small ones to large ones, go from place
/// to place, each adding its own, and the sums go back; every second part the other way round.
schedule::Schedule exchange_schedule(const plan::Problem& problem);

/// In which order a stage takes its passes: all forward ones first, or both kinds in turn.
enum class CutOrder : std::uint8_t { gpipe, one_f_one_b };

/// As many stages of about equal numbers of nodes as there are places, in the order given, and
/// micro-batches through all of them.
schedule::Schedule cut_schedule(const plan::Problem& problem,
                                std::span<const schedule::Place> order, std::int32_t micro_batches,
                                CutOrder pipeline = CutOrder::gpipe);

}  // namespace zygos::measure
