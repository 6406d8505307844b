// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Trial runs: of the ways that are predicted to be fastest, the one that proves so is recommended.
#pragma once

#include "app/console.hpp"
#include "app/plan/plan_ways.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::app {

/// Candidates to try, at most `count`: the recommended one first, then the fastest of every other
/// policy and lane alone, then whatever is left, each time those predicted to be faster first. What
/// may not be recommended is not among them.
std::vector<std::size_t> trial_candidates(const Ways& ways, std::int64_t count);

/// Of the trials in `ways` the fastest; but several lanes have to beat the fastest single one that
/// was tried by plan::worthwhile_gain. Requires a trial.
std::size_t best_of_trials(const Ways& ways);

/// Trains with up to `count` of the ways for some steps each, interleaved, and recommends the best
/// of them in place of the one that was predicted to be. Nothing is done for a count below 2 or
/// where there is only one way. Throws StoppedEarly.
void try_ways(const RunSetup& setup, std::int64_t count, Ways& ways, Console& console);

}  // namespace zygos::app
